import Foundation
import Testing

/// Notes for a session that a run holds, or that the next run will hold.
@Suite("A session with notes in its inbox")
struct NoteTests {
  private func job(_ receiver: ReceiverProcess, files: Int, connections: Int = 2) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: connections,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, include: [\"*.txt\"] }")))
    for index in 0..<files { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test func `accepts submitted files in the active run`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 30)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    try job.write("extra", to: "extra.bin")
    let submit = try await job.ferry("submit", "job.yaml", "files", "files/extra.bin")
    #expect(submit.status == 0, "\(submit.stderr)")
    try await receiver.clearFaults()
    #expect(await run.end().status == 0)
    #expect(try job.report().totals.items.done == 31)
    #expect(try await receiver.received().files.contains { $0.name == "extra.bin" && $0.puts == 1 })
    // The first run has processed the note.
    let again = try await job.run()
    #expect(again.command.status == 0 && again.report.totals.itemsDoneInRun == 0)
  }

  @Test func `accepts submitted files in the next run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, files: 1)
    try job.write("extra", to: "extra.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/extra.bin").status == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(Set(try await receiver.received().files.map(\.name)) == ["0.txt", "extra.bin"])
  }

  /// A folder cannot be read.
  @Test func `rejects a list that cannot be read from standard input`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, files: 1)
    let submit = try await job.start(
      ["-c", "exec \"$0\" submit job.yaml files --list - < .", Product.path("ferry")], program: "/bin/sh"
    ).end()
    #expect(submit.status == 2)
    #expect(
      submit.stderr.contains("cannot read the list from standard input: Is a directory"), "\(submit.stderr)")
  }

  @Test func `lists the first hundred submitted files in its status`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, files: 0)
    for number in 1...101 { try job.write("extra", to: "\(number).bin") }
    let files = (1...101).map { "files/\($0).bin" }
    #expect(try await job.start(["submit", "job.yaml", "files"] + files).end().status == 0)
    let note = try #require(try await job.status().session("e2e.uploads")?.notes.first)
    #expect(note.kind == "submit" && note.files == 101)
    #expect(note.paths.count == 100 && note.paths.allSatisfy { $0.hasSuffix(".bin") })
  }

  @Test func `stops at once when it is cancelled, and keeps its files for the next round`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 60)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    let cancel = try await job.ferry("cancel", "e2e.uploads")
    #expect(cancel.status == 0, "\(cancel.stderr)")
    _ = await run.end()
    let report = try job.report()
    #expect(report.totals.items.done < 60)
    #expect(report.items.contains { $0.state == "cancelled" && $0.reason?.code == "cancelled" })
    #expect(report.run.roundClosed)
    try await receiver.clearFaults()
    let next = try await job.run()
    #expect(next.command.status == 0)
    #expect(try await receiver.received().files.count == 60)
  }

  @Test func `completes running requests when it is cancelled with --finish`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 60)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    #expect(try await job.ferry("cancel", "e2e.uploads", "--finish").status == 0)
    try await receiver.clearFaults()
    _ = await run.end()
    let report = try job.report()
    let done = report.totals.items.done
    #expect(done >= 2 && done < 60, "\(done)")
    #expect(try await receiver.received().files.count == done)
  }

  @Test func `completes all that it has queued when it is drained`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 12)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    let drain = try await job.ferry("cancel", "e2e.uploads", "--drain")
    #expect(
      drain.stdout
        == "session e2e.uploads: in use by process \(run.pid), which was asked to complete the work that it has queued\n",
      "\(drain.stderr)")
    try job.write("extra", to: "extra.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/extra.bin").status == 0)
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("e2e/files: 1 file submitted to this run will be sent by the next run\n"))
    #expect(try job.report().totals.items.done == 12)
    // If no process uses the session, `--drain` changes nothing.
    let idle = try await job.ferry("cancel", "e2e.uploads", "--drain")
    #expect(
      idle.stdout
        == "session e2e.uploads: no process uses the session; queued work remains for the next run\n")
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await receiver.received().files.count == 13)
    #expect(try await job.ferry("cancel", "e2e.uploads", "--drain", "--finish").status == 2)
  }

  // MARK: several uploads

  /// Three uploads of `*.txt` from the folders `fa`, `fb` and `fc`. At first, only `fc` has a file.
  ///
  /// - Parameter posts: whether the file in `fc` is sent to the inbox, which a fault can delay separately.
  private func uploads(_ receiver: ReceiverProcess, waiting: Bool, posts: Bool = false) throws -> Workspace {
    let post = "protocol: post, request: { url: \"${vars.api}/inbox?name=${file.path}\" }"
    let nodes = ["c", "a", "b"].map { name in
      let put = "request: { url: \"${vars.api}/files/\(name)/${file.path}\" }"
      return """
          \(name):
            session: uploads
            \(waiting && name != "c" ? "needs: [c]" : "priority: default")
            files: { root: f\(name), include: ["*.txt"] }
            transfer: { \(posts && name == "c" ? post : put) }
            \(JobText.retry)
        """
    }
    let job = try Workspace(JobText.text(server: receiver.url, "uploads:", nodes.joined(separator: "\n")))
    for name in ["fa", "fb", "fc"] { _ = try job.folder.makeFolder(name) }
    try job.folder.write(Data("slow".utf8), to: "fc/slow.txt")
    return job
  }

  private func submit(_ file: String, to upload: String, of job: Workspace) async throws -> Command {
    try job.folder.write(Data(file.utf8), to: file)
    let command = try await job.ferry("submit", "job.yaml", upload, file)
    #expect(command.status == 0, "\(command.stderr)")
    return command
  }

  private func wait(for node: String, _ state: String, _ count: Int, of job: Workspace) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await job.status().session("e2e.uploads")?.node(node)?.items?[state] != count {
      try #require(ContinuousClock.now < deadline, "\(node) has not \(count) \(state)")
    }
  }

  @Test func `holds files that were submitted to an upload that the run does not include`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try uploads(receiver, waiting: false)
    _ = try await submit("fa/a.bin", to: "a", of: job)
    #expect(try await job.run("--only", "c").command.status == 0)
    #expect(try await job.status().session("e2e.uploads")?.notes.count == 1)
    #expect(try await job.run().command.status == 0)
    #expect(Set(try await receiver.received().files.map(\.name)) == ["c/slow.txt", "a/a.bin"])
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `refuses files of the same manifest with other variables until the first have been sent`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      """
      version: 1
      name: e2e
      vars: { folder: one }
      sessions: { s: { kind: background } }
      uploads:
        up:
          session: s
          files: { root: "${vars.folder}", include: ["*.txt"] }
          transfer: { request: { url: "\(receiver.url)/files/${vars.folder}/${file.path}" } }

      """)
    for file in ["one/a", "two/a", "two/b"] { try job.folder.write(Data(file.utf8), to: file) }
    #expect(try await job.ferry("submit", "job.yaml", "up", "one/a").status == 0)
    let second = try await job.ferry("submit", "job.yaml", "up", "two/b", "--var", "folder=two")
    #expect(second.status == 2 && second.stderr.contains("have not been sent yet"), "\(second.stderr)")
    #expect(try await job.ferry("submit", "job.yaml", "up", "one/a").status == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await receiver.received().files.map(\.name) == ["one/a"])
    #expect(try await job.ferry("submit", "job.yaml", "up", "two/b", "--var", "folder=two").status == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await receiver.received().files.map(\.name).sorted() == ["one/a", "two/b"])
  }

  @Test func `refuses files of the same manifest with other variables while a process may send the first`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=4"])
    let job = try Workspace(
      """
      version: 1
      name: e2e
      vars: { folder: one }
      sessions: { uploads: { kind: background } }
      uploads:
        up:
          session: uploads
          files: { root: "${vars.folder}" }
          transfer: { request: { url: "\(receiver.url)/files/${vars.folder}/${file.path}" } }

      """)
    for file in ["one/a", "two/b"] { try job.folder.write(Data(file.utf8), to: file) }
    let run = try job.start(["run", "job.yaml"])
    try await wait(for: "up", "queued", 1, of: job)
    let refused = try await job.ferry("submit", "job.yaml", "up", "two/b", "--var", "folder=two")
    #expect(refused.status == 2)
    let message = "process \(run.pid) may be sending files of manifest 'e2e'"
    #expect(refused.stderr.contains(message), "\(refused.stderr)")
    #expect(await run.end().status == 0)
    #expect(try await receiver.received().files.map(\.name) == ["one/a"])
    #expect(try await job.ferry("submit", "job.yaml", "up", "two/b", "--var", "folder=two").status == 0)
  }

  @Test func `reports which submitted files a run leaves for the next`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=4"])
    let job = try uploads(receiver, waiting: false)
    let run = try job.start(["run", "job.yaml", "--only", "c"])
    try await wait(for: "c", "queued", 1, of: job)
    _ = try await submit("fa/a.bin", to: "a", of: job)
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(
      end.stderr.contains("ferry: e2e/a: 1 file submitted to this run will be sent by the next run\n"),
      "\(end.stderr)")
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await receiver.received().files.contains { $0.name == "a/a.bin" })
  }

  @Test(arguments: [false, true])
  func `loses no note although the root of another note is gone`(_ cancels: Bool) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=4"])
    let job = try uploads(receiver, waiting: true)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    try await wait(for: "c", "queued", 1, of: job)
    run.signal(SIGSTOP)
    if cancels { #expect(try await job.ferry("cancel", "e2e.uploads").status == 0) }
    _ = try await submit("fa/a.bin", to: "a", of: job)
    _ = try await submit("fb/b.bin", to: "b", of: job)
    #expect(rename(job.folder.path("fb"), job.folder.path("away")) == 0)
    try await receiver.clearFaults()
    run.signal(SIGCONT)
    let end = await run.end()
    let report = try job.report()
    #expect(rename(job.folder.path("away"), job.folder.path("fb")) == 0)
    if cancels {
      #expect(report.item("slow.txt")?.state == "cancelled", "\(end.stdout)")
    } else {
      #expect(end.status == 5, "\(end.stdout)\(end.stderr)")
      #expect(report.node("b")?.problems?.map(\.code) == ["root_missing"])
      #expect(try await receiver.received().files.map(\.name).sorted() == ["a/a.bin", "c/slow.txt"])
      #expect(try await job.status().session("e2e.uploads")?.notes.map(\.node) == ["b"])
    }
    #expect(try await job.ferry("resume").status == 0)
    let names = Set(try await receiver.received().files.map(\.name))
    #expect(names.isSuperset(of: ["a/a.bin", "b/b.bin"]), "\(names)")
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `sends files that are submitted to an upload that has ended in the same run`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=4"])
    let job = try uploads(receiver, waiting: false, posts: true)
    try job.folder.write(Data("quick".utf8), to: "fa/quick.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    try await wait(for: "a", "done", 1, of: job)
    let submit = try await submit("fa/late.bin", to: "a", of: job)
    #expect(
      submit.stdout.contains(
        "process \(run.pid) was asked to send it; the next run sends every file that the process does not send"
      ))
    #expect(await run.end().status == 0)
    let report = try job.report()
    #expect(report.run.roundClosed)
    #expect(report.totals.items.done == 3)
    #expect(try await receiver.received().files.contains { $0.name == "a/late.bin" })
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
  }

  @Test func `sends a submitted file again that the run already had`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let list = JobText.puts.replacing("{ root: files }", with: "{ root: files, list: names }")
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, list))
    for name in ["0.txt", "1.txt", "2.txt", "3.txt"] { try job.write("file \(name)", to: name) }
    try job.folder.write(Data("0.txt\n1.txt\n2.txt\n3.txt\n".utf8), to: "names")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 2 }
    try job.write("another text than before", to: "0.txt")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/0.txt").status == 0)
    try await receiver.clearFaults()
    #expect(await run.end().status == 0)
    try job.folder.write(Data(), to: "names")
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().files.first { $0.name == "0.txt" }?.puts == 2)
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  private func isSent(_ name: String, of job: Workspace, to receiver: ReceiverProcess) async throws {
    #expect(try await receiver.received().files.contains { $0.name == name })
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `retries a file that failed in a run and was submitted to it again`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:times=1,status=400", "file:delay=2"])
    let job = try job(receiver, files: 6, connections: 1)
    try job.write("extra", to: "+.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/+.bin").status == 0)
    let run = try job.start(["run", "job.yaml"])
    try await wait(for: "files", "failed", 1, of: job)
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/+.bin").status == 0)
    run.signal(SIGINT)
    #expect(await run.end().status == 130)
    try await receiver.clearFaults()
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.failed == 0 && report.run.roundClosed)
    try await isSent("+.bin", of: job, to: receiver)
  }

  @Test(arguments: [false, true])
  func `retries a file that failed in an earlier run of its round`(_ isRunning: Bool) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:times=1,status=400"])
    let job = try job(receiver, files: 6, connections: 1)
    try job.write("extra", to: "+.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/+.bin").status == 0)
    let first = try await job.run("--limit", "1").report
    #expect(first.totals.items.failed == 1 && !first.run.roundClosed)
    if isRunning {
      // This run has not listed the file, and leaves it for the next run.
      try await receiver.add(spec: "file:delay=1")
      let run = try job.start(["run", "job.yaml"])
      try await wait(for: "files", "done", 1, of: job)
      #expect(try await job.ferry("submit", "job.yaml", "files", "files/+.bin").status == 0)
      try await receiver.clearFaults()
      #expect(await run.end().status == 0)
    } else {
      #expect(try await job.ferry("submit", "job.yaml", "files", "files/+.bin").status == 0)
    }
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    try await isSent("+.bin", of: job, to: receiver)
  }

  @Test func `drops files that were submitted before it was cancelled, even if the run is killed first`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    let job = try job(receiver, files: 1)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests >= 1 }
    run.signal(SIGSTOP)
    try job.write("extra", to: "extra.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/extra.bin").status == 0)
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
    // This run cancels the file that the killed run had queued.
    let next = try await job.run().command
    #expect(
      next.status == 1 && next.stdout.contains("  1 item was canceled by ferry cancel\n"), "\(next.stdout)")
    #expect(try await receiver.received().files.contains { $0.name == "extra.bin" } == false)
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test
  func `drops files that were submitted before it was cancelled, including those held for the next run`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 9, connections: 1)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    try await wait(for: "files", "done", 1, of: job)
    try job.write("another text than before", to: "0.txt")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/0.txt").status == 0)
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    _ = await run.end()
    #expect(try job.report().run.roundClosed)
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
  }

  @Test func `also drops files of an upload that the next run does not include`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    let job = try uploads(receiver, waiting: false)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests >= 1 }
    run.signal(SIGSTOP)
    _ = try await submit("fa/a.bin", to: "a", of: job)
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
    #expect(try await job.run("--only", "b").command.status == 0)
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test(arguments: [
    ("rm", "source_missing"), ("rm FILE && mkdir", "source_unreadable"),
  ])
  func `fails only the submitted path that is no longer a file`(_ what: String, code: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try uploads(receiver, waiting: false)
    _ = try await submit("fa/a.bin", to: "a", of: job)
    _ = try await submit("fa/b.bin", to: "a", of: job)
    let script = what.replacing("FILE", with: "fa/a.bin") + " fa/a.bin"
    #expect(try await Command.run("sh", ["-ec", script], in: job.folder.url).status == 0)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("a.bin")?.state == "failed")
    #expect(report.item("a.bin")?.reason?.code == code)
    #expect(try await receiver.received().files.map(\.name).sorted() == ["a/b.bin", "c/slow.txt"])
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `reports files that were submitted to an upload that the manifest no longer has`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try uploads(receiver, waiting: false)
    let before = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    _ = try await submit("fa/a.bin", to: "a", of: job)
    try job.write(manifest: before.replacing("  a:\n", with: "  renamed:\n"))
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let edit = try #require(report.run.edits?.first)
    #expect(edit.code == "upload_gone" && edit.items == 1)
    #expect(edit.message.contains("the manifest no longer has upload 'a'"), "\(edit.message)")
    try job.write(manifest: before)
    #expect(try await job.run().report.run.edits == nil)
    #expect(try await receiver.received().files.contains { $0.name == "a/a.bin" })
  }

  /// Another user's link must not determine which file is sent, however the path is written.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: [
      "files/in/e/../s.txt", "alias/in/l/s.txt", "files/in/l/s.txt", "files/in/../in/l/s.txt", "job/s.txt",
    ])
  func `does not follow another user's link to a submitted file`(_ path: String) async throws {
    let job = try Workspace(JobText.text(server: "http://127.0.0.1:9", JobText.puts))
    let folder = job.folder.path("files")
    for name in ["in/own.txt", "private/s.txt", "private/sub/x.txt"] { try job.write("text", to: name) }
    for (name, target) in [
      ("files/in/e", "../private/sub"), ("files/in/l", "../private"), ("job", folder + "/private"),
    ] {
      try FileManager.default.createSymbolicLink(atPath: job.folder.path(name), withDestinationPath: target)
      #expect(lchown(job.folder.path(name), 65534, 65534) == 0)
    }
    try FileManager.default.createSymbolicLink(atPath: job.folder.path("alias"), withDestinationPath: folder)
    let submit = try await job.ferry("submit", "job.yaml", "files", path)
    #expect(submit.status == 2, "\(submit.stdout)\(submit.stderr)")
    // ferry follows the user's own link to the root.
    let own = try await job.ferry("submit", "job.yaml", "files", "alias/in/own.txt")
    #expect(own.status == 0, "\(own.stderr)")
  }

}
