import Foundation
import Testing

/// `after`: what happens to files after their delivery.
@Suite struct `A delivered file` {
  private func puts(_ receiver: ReceiverProcess, connections: Int = 4, _ lines: String...) -> String {
    JobText.text(
      server: receiver.url, connections: connections,
      ([JobText.puts] + lines.map { "    \($0)" }).joined(separator: "\n"))
  }

  private func files(_ job: Workspace) -> [String] {
    let names = FileManager.default.subpaths(atPath: job.folder.path("files")) ?? []
    return names.filter { name in
      var isFolder: ObjCBool = false
      let path = job.folder.path("files/\(name)")
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }.sorted()
  }

  /// Creates the state that a kill leaves if deliveries are on disk: the journal contains pending actions.
  private func owe(_ job: Workspace) async throws {
    let script = """
      import os, sqlite3, sys
      journal = sqlite3.connect(sys.argv[1])
      for item, path in journal.execute("SELECT id, path FROM item").fetchall():
        inode = os.stat(os.path.join(os.fsencode(sys.argv[2]), path)).st_ino
        journal.execute("UPDATE item SET after = 1, inode = ? WHERE id = ?", (inode, item))
      journal.commit()
      """
    let owing = try await Command.run(
      "python3", ["-c", script, job.state + "/sessions/e2e.uploads.db", job.folder.path("files")])
    #expect(owing.status == 0, "\(owing.stderr)")
  }

  @Test func `is deleted once its delivery is on disk, and the plan announces this`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: delete"))
    for name in ["a.txt", "sub/b.txt"] { try job.folder.write(Data(name.utf8), to: "files/\(name)") }
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.stdout.contains("after: delete"), "\(plan.stdout)")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.after?.deleted == 2)
    #expect(report.node("files")?.after?.problems.isEmpty == true)
    #expect(command.stdout.contains("2 deleted"), "\(command.stdout)")
    #expect(files(job) == [])
    #expect(try await receiver.received().puts == ["a.txt": 1, "sub/b.txt": 1])

    // A new file that has the name of a deleted one is a new item.
    try job.write("another", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    #expect(files(job) == [])
    #expect(try await receiver.received().puts == ["a.txt": 2, "sub/b.txt": 1])
  }

  /// A glob, or a list, contains a link in place of the file, and in the list also a path through a link.
  @Test(arguments: [#"include: ["out/**"]"#, "list: list"], ["after: delete", "after: { move_to: gone/ }"])
  func `keeps the target of a link, and loses the link`(_ selection: String, _ after: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let text = puts(receiver, after)
    let job = try Workspace(
      text.replacing("files: { root: files }", with: "files: { root: files, \(selection) }"))
    for name in ["keep/a.txt", "keep/b.txt", "out/c.txt"] {
      try job.folder.write(Data(name.utf8), to: "files/\(name)")
    }
    for name in ["a.txt", "b.txt"] {
      #expect(symlink("../keep/\(name)", job.folder.path("files/out/\(name)")) == 0)
    }
    try job.folder.write(Data("out/a.txt\nout/b.txt\nout/c.txt\n".utf8), to: "list")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let done = report.node("files")?.after
    #expect((done?.deleted ?? 0) + (done?.moved ?? 0) == 3)
    #expect(files(job).filter { !$0.hasPrefix("gone") } == ["keep/a.txt", "keep/b.txt"], "\(files(job))")
    #expect(try await job.run().command.status == 0)
  }

  @Test func `is moved with its folders, and what was moved is never listed`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "deliver: every_run", "after: { move_to: put/away/ }"))
    for name in ["a.txt", "sub/er/b.txt", "put/c.txt"] {
      try job.folder.write(Data(name.utf8), to: "files/\(name)")
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.after?.moved == 3)
    #expect(files(job) == ["put/away/a.txt", "put/away/put/c.txt", "put/away/sub/er/b.txt"])
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().puts == ["a.txt": 1, "sub/er/b.txt": 1, "put/c.txt": 1])
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains("0 items"))
  }

  @Test func `is skipped in a list that names its new location`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      puts(receiver, "after: { move_to: sent }")
        .replacing("{ root: files }", with: "{ root: files, list: list.txt }"))
    try job.write("a", to: "a.txt")
    try job.folder.write(Data("b".utf8), to: "files/sent/b.txt")
    try job.folder.write(Data("a.txt\nsent/b.txt\n".utf8), to: "list.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.after?.moved == 1)
    #expect(try await receiver.received().puts == ["a.txt": 1])
    #expect(command.stderr.contains("sent/b.txt: it is in the folder to which delivered files are moved"))
  }

  @Test(arguments: ["when_changed", "every_run"])
  func `stays in place and pending if the target name exists, and is not sent again`(_ deliver: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "deliver: \(deliver)", "after: { move_to: sent/ }"))
    try job.write("new", to: "a.txt")
    try job.folder.write(Data("old".utf8), to: "files/sent/a.txt")
    for _ in 0..<2 {
      let (command, report) = try await job.run()
      #expect(command.status == 5, "\(command.stderr)")
      let problems = report.node("files")?.after?.problems ?? []
      #expect(problems.map(\.code) == ["after_exists"])
      #expect(problems.map(\.isOwed) == [true])
      #expect(job.folder.text("files/sent/a.txt") == "old")
      #expect(job.folder.text("files/a.txt") == "new")
    }
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains("1 delivered, to be moved or deleted"))
    #expect(try await job.ferry("status").stdout.contains("1 delivered, to be moved or deleted"))
    #expect(
      try await job.ferry("next", "job.yaml").stdout
        == "nothing to do until something changes: there is nothing to send; the next run retries "
        + "moving or deleting 1 delivered file\n")
    let explained = try await job.ferry("explain", "a.txt", "--manifest", "job.yaml").stdout
    #expect(explained.contains("it is delivered, and the next run will move or delete it"))
    #expect(
      explained.contains(
        "after: move_to sent/ is pending: sent/a.txt already exists and is not overwritten"),
      "\(explained)")
    try FileManager.default.removeItem(atPath: job.folder.path("files/sent/a.txt"))
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.after?.moved == 1)
    #expect(job.folder.text("files/sent/a.txt") == "new")
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test func `is not moved through a link that leaves the root`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/ }"))
    try job.write("a", to: "a.txt")
    let outside = try job.folder.makeFolder("outside").path(percentEncoded: false)
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("files/sent"), withDestinationPath: outside)
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stderr)")
    #expect(report.node("files")?.after?.problems.map(\.code) == ["after_folder"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
    #expect(job.folder.text("files/a.txt") == "a")
  }

  @Test func `is not moved to another file system, nor copied`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/ }"))
    try job.write("a", to: "a.txt")
    _ = try job.folder.makeFolder("files/sent")
    let script = """
      mount -t tmpfs none files/sent || exit 99
      \(Product.path("ferry")) run job.yaml --report report.json; code=$?
      echo "left: $(ls files/sent)"; exit $code
      """
    let command = try await Command.run(
      "unshare", ["--mount", "sh", "-c", script], environment: ["FERRY_STATE": job.state, "E2E_SECRET": "x"],
      in: job.folder.url)
    guard command.stdout.contains("left:") else {
      FileHandle.standardError.write(Data("skipped: nothing can be mounted here: \(command.stderr)\n".utf8))
      return
    }
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(try job.report().node("files")?.after?.problems.map(\.code) == ["after_file_system"])
    #expect(command.stdout.contains("is on a different file system, and ferry does not copy files"))
    #expect(command.stdout.contains("left: \n"))
    #expect(job.folder.text("files/a.txt") == "a")
  }

  @Test(arguments: ["delete", "{ move_to: sent/ }"])
  func `is deleted or moved by the next run after a crash`(_ after: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver))
    for index in 0..<3 { try job.write("file \(index)", to: "\(index).txt") }
    #expect(try await job.run().command.status == 0)
    try await owe(job)
    // One of the files was already moved or deleted, but the journal does not record it.
    try job.write(manifest: puts(receiver, "deliver: every_run", "after: \(after)"))
    let isMove = after != "delete"
    if isMove {
      _ = try job.folder.makeFolder("files/sent")
      #expect(rename(job.folder.path("files/2.txt"), job.folder.path("files/sent/2.txt")) == 0)
    } else {
      try FileManager.default.removeItem(atPath: job.folder.path("files/2.txt"))
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(files(job) == (isMove ? ["sent/0.txt", "sent/1.txt", "sent/2.txt"] : []))
    let told = report.node("files")?.after
    #expect((isMove ? told?.moved : told?.deleted) == (isMove ? 3 : 2))
    #expect(told?.problems.isEmpty == true)
    #expect(try await receiver.received().puts == ["0.txt": 1, "1.txt": 1, "2.txt": 1])
  }

  @Test func `is kept permanently once the manifest says keep`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/ }"))
    try job.write("new", to: "a.txt")
    try job.folder.write(Data("old".utf8), to: "files/sent/a.txt")
    #expect(try await job.run().command.status == 5)
    try job.write(
      manifest: puts(receiver).replacing("{ root: files }", with: "{ root: files, exclude: [sent/**] }"))
    #expect(try await job.run().command.status == 0)
    try job.write(manifest: puts(receiver, "after: { move_to: sent2/ }"))
    _ = try await job.run()
    #expect(job.folder.text("files/a.txt") == "new")
  }

  @Test(arguments: ["delete", "{ move_to: sent/ }"])
  func `is never lost, however often ferry is killed`(_ after: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.004"])
    let job = try Workspace(puts(receiver, connections: 2, "after: \(after)"))
    let names = try TestFiles.writeMany(150, to: job.folder, under: "files", seed: 2028)
    var random = SplitMix(seed: 2028)
    for _ in 0..<6 {
      let run = try job.start(["run", "job.yaml", "--quiet"])
      try await Task.sleep(for: .milliseconds(Int(random.next() % 400) + 50))
      run.signal(SIGKILL)
      _ = await run.end()
      let received = Set(try await receiver.received().files.map(\.name))
      let left = Set(files(job))
      for name in names where !left.contains(name) {
        #expect(received.contains(name), "\(name) is neither here nor there")
        #expect(after == "delete" || left.contains("sent/" + name))
      }
    }
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(Set(try await receiver.received().files.map(\.name)) == Set(names))
    #expect(files(job).count == (after == "delete" ? 0 : names.count))
    #expect(files(job).allSatisfy { $0.hasPrefix("sent/") })
  }

  @Test func `is not moved through a link inside the root either, which would list it again`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/in }"))
    try job.write("a", to: "a.txt")
    _ = try job.folder.makeFolder("files/real")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("files/sent"), withDestinationPath: "real")
    for _ in 0..<2 {
      let (command, report) = try await job.run()
      #expect(command.status == 5, "\(command.stderr)")
      #expect(report.node("files")?.after?.problems.map(\.code) == ["after_folder"])
    }
    #expect(files(job) == ["a.txt"])
    #expect(unlink(job.folder.path("files/sent")) == 0)
    #expect(try await job.run().command.status == 0)
    #expect(files(job) == ["sent/in/a.txt"])
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test func `keeps its move pending while its root is an empty mount point`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/ }"))
    try job.write("new", to: "a.txt")
    try job.folder.write(Data("old".utf8), to: "files/sent/a.txt")
    #expect(try await job.run().command.status == 5)
    try FileManager.default.removeItem(atPath: job.folder.path("files/sent/a.txt"))
    #expect(rename(job.folder.path("files"), job.folder.path("away")) == 0)
    _ = try job.folder.makeFolder("files")
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stderr)")
    #expect(report.node("files")?.after?.problems.map(\.code) == ["after_missing"])
    #expect(report.node("files")?.after?.problems.map(\.isOwed) == [true])
    #expect(rmdir(job.folder.path("files")) == 0)
    #expect(rename(job.folder.path("away"), job.folder.path("files")) == 0)
    #expect(try await job.run().command.status == 0)
    #expect(files(job) == ["sent/a.txt"])
  }

  @Test func `keeps its deletion pending while its root is an empty mount point`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    try await owe(job)
    try job.write(manifest: puts(receiver, "after: delete"))
    #expect(rename(job.folder.path("files"), job.folder.path("away")) == 0)
    _ = try job.folder.makeFolder("files")
    for _ in 0..<2 {
      let (command, report) = try await job.run()
      #expect(command.status == 5, "\(command.stderr)")
      let told = report.node("files")?.after
      #expect(told?.deleted == 0 && told?.problems.map(\.code) == ["after_missing"])
      #expect(told?.problems.map(\.isOwed) == [true])
    }
    #expect(rmdir(job.folder.path("files")) == 0)
    #expect(rename(job.folder.path("away"), job.folder.path("files")) == 0)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.after?.deleted == 1)
    #expect(files(job) == [])
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test(arguments: ["delete", "{ move_to: sent/ }"])
  func `has nothing pending once it is gone, even if its root is then empty`(_ after: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver, "after: { move_to: sent/ }"))
    try job.write("new", to: "a.txt")
    try job.folder.write(Data("old".utf8), to: "files/sent/a.txt")
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: puts(receiver, "after: \(after)"))
    for name in ["sent", "a.txt"] {
      try FileManager.default.removeItem(atPath: job.folder.path("files/\(name)"))
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let told = report.node("files")?.after?.problems ?? []
    #expect(told.map(\.code) == (after == "delete" ? [] : ["after_missing"]))
    #expect(told.allSatisfy { !$0.isOwed })
    #expect(try await job.run().report.node("files")?.after?.problems.isEmpty != false)
    #expect(try await job.ferry("next", "job.yaml").stdout.contains("there is nothing to send\n"))
  }

  @Test func `makes a run necessary until one has processed it`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(puts(receiver))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    try await owe(job)
    try job.write(manifest: puts(receiver, "after: delete"))
    #expect(try await job.ferry("next", "job.yaml").stdout == "now\n")
    #expect(try await job.run().command.status == 0)
    #expect(files(job) == [])
  }

  @Test(arguments: [(true, "after_changed"), (false, "after_unknown")])
  func `is the file that was sent, and never a copy in another root`(_ wasSent: Bool, code: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:times=1,drop=after"])
    let text = JobText.text(server: receiver.url, JobText.posts)
    let destructive = text + "    after: delete\n"
    let job = try Workspace(wasSent ? destructive : text)
    try job.write("x", to: "x.txt")
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("resolve", "files/x.txt", "done", "--manifest", "job.yaml").status == 0)
    let copy = try await Command.run("cp", ["-a", "files", "other"], in: job.folder.url)
    #expect(copy.status == 0)
    try job.write(
      manifest: wasSent ? destructive.replacing("root: files", with: "root: other") : destructive)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("files")?.after?.deleted == 0)
    #expect(report.node("files")?.after?.problems.map(\.code) == [code])
    #expect(job.folder.text("files/x.txt") == "x" && job.folder.text("other/x.txt") == "x")
    #expect(try await receiver.received().inbox.count == 1)
  }
}
