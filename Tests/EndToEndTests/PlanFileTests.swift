import Foundation
import Testing

@Suite struct `A plan` {
  private static let nodes = """
    fetches:
      list: { session: quick, token: login, request: { url: "${vars.api}/catalog.json" }, save_to: catalog.json }
    uploads:
      files:
        session: uploads
        needs: [list]
        files: { root: files }
        transfer: { request: { url: "${vars.api}/files/${file.path}" } }
    """

  private func job(_ server: String = "http://127.0.0.1:1", _ nodes: String = nodes) throws -> Workspace {
    let job = try Workspace(JobText.text(server: server, nodes))
    for name in ["a", "b"] { try job.write(name, to: name) }
    return job
  }

  @Test func `is a graph of Mermaid and of Graphviz`() async throws {
    let job = try job()
    let mermaid = try await job.ferry("plan", "job.yaml", "--format", "mermaid")
    #expect(
      mermaid.stdout == """
        flowchart LR
          n0(["token login<br>when needed"])
          n1[/"fetch list<br>run"/]
          n2["upload files<br>2 items, 2 B"]
          n0 -.-> n1
          n1 --> n2

        """)
    let dot = try await job.ferry("plan", "job.yaml", "--format", "dot")
    #expect(dot.stdout.hasPrefix("digraph \"e2e\" {\n  rankdir=LR;"))
    #expect(dot.stdout.contains("  n2 [label=\"upload files\\n2 items, 2 B\"];\n"))
    #expect(dot.stdout.hasSuffix("  n0 -> n1 [style=dashed];\n  n1 -> n2;\n}\n"), "\(dot.stdout)")
  }

  @Test func `lists its files`() async throws {
    let job = try job()
    try job.write("x", to: "line\nbreak")
    let text = try await job.ferry("plan", "job.yaml", "--files")
    #expect(text.stdout == "files  a  1 B\nfiles  b  1 B\nfiles  \"line\\nbreak\"  1 B\n")
    struct File: Decodable {
      var node: String
      var path: String
      var size: Int
      var reason: String
    }
    let json = try await job.ferry("plan", "job.yaml", "--files", "--format", "json")
    let files = try json.stdout.split(separator: "\n").map {
      try JSONDecoder().decode(File.self, from: Data($0.utf8))
    }
    #expect(
      files.map(\.path) == ["a", "b", "line\nbreak"]
        && files.allSatisfy { $0.reason == "new" && $0.size == 1 })
  }

  @Test func `has different exit codes for work and for no work`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, JobText.puts)
    func status(_ options: String...) async throws -> Int32 {
      try await job.start(["plan", "job.yaml", "--detailed-exitcode"] + options).end().status
    }
    #expect(try await status() == 2)
    _ = try await job.run()
    #expect(try await status() == 0)
    #expect(try await status("--files") == 0)
    #expect(try await status("--only", "nosuch") == 1)
    try job.write(manifest: "version: 1\nname: [\n")
    #expect(try await status() == 3)
  }

  @Test func `is run from a file`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, JobText.puts)
    let plan = try await job.ferry("plan", "job.yaml", "--out", "plan.json")
    #expect(plan.status == 0 && plan.stdout.contains("2 items"), "\(plan.stderr)")
    let run = try await job.ferry("run", "--plan", "plan.json")
    #expect(run.status == 0 && run.stdout.contains("2 done"), "\(run.stdout)\(run.stderr)")
    #expect(try await receiver.received().files.count == 2)
  }

  /// A plan names a manifest, which may start commands.
  @Test(.enabled("only root can give a file to another user") { geteuid() == 0 })
  func `of another user in a shared folder is not run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, JobText.puts)
    let folder = try job.folder.makeFolder("shared")
    #expect(chmod(folder.path, 0o1777) == 0)
    #expect(try await job.ferry("plan", "job.yaml", "--out", "shared/plan.json").status == 0)
    #expect(chown(folder.path + "/plan.json", 65534, 65534) == 0)
    let run = try await job.ferry("run", "--plan", "shared/plan.json")
    #expect(run.status == 2, "\(run.stdout)")
    #expect(run.stderr.contains("belongs to user 65534, in a world-writable folder"), "\(run.stderr)")
    // ferry does not replace the plan, either.
    let plan = try await job.ferry("plan", "job.yaml", "--out", "shared/plan.json")
    #expect(plan.status == 2 && plan.stderr.contains("the plan cannot be written"), "\(plan.stderr)")
    #expect(try await receiver.received().files.isEmpty)
  }

  @Test func `is read only from a regular file`() async throws {
    let job = try job()
    #expect(mkfifo(job.folder.path("fifo"), 0o600) == 0)
    for path in ["/dev/zero", "fifo", "files"] {
      let run = try await job.start(["run", "--plan", path]).end(within: .seconds(20))
      #expect(run.status == 2, "\(run.stdout)")
      #expect(run.stderr.contains("\(path): cannot be read: it is not a regular file"), "\(run.stderr)")
      guard path != "files" else { continue }
      let diff = try await job.start(["report", "--diff", "./" + path, path + "/../x.json"]).end(
        within: .seconds(20))
      #expect(diff.status == 2, "\(diff.stdout)")
    }
  }

  @Test func `does not replace a device or a FIFO, and follows a link`() async throws {
    let job = try job("http://127.0.0.1:1", JobText.puts)
    #expect(mkfifo(job.folder.path("fifo"), 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("null"), withDestinationPath: "/dev/null")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("link"), withDestinationPath: "plan.json")
    for name in ["fifo", "null"] {
      let plan = try await job.start(["plan", "job.yaml", "--out", name]).end(within: .seconds(20))
      #expect(plan.status == 2, "\(plan.stdout)")
      #expect(plan.stderr.contains("the plan cannot be written: it is not a regular file"), "\(plan.stderr)")
    }
    var status = stat()
    #expect(lstat(job.folder.path("fifo"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    #expect(lstat(job.folder.path("null"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(try await job.ferry("plan", "job.yaml", "--out", "link").status == 0)
    #expect(lstat(job.folder.path("link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(lstat(job.folder.path("plan.json"), &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test(arguments: [Int.max, -5, 0])
  func `may state any number of files, and names are shown on one line`(_ files: Int) async throws {
    let job = try job("http://127.0.0.1:1", JobText.puts)
    #expect(try await job.ferry("plan", "job.yaml", "--out", "plan.json").status == 0)
    var head = try #require(
      JSONSerialization.jsonObject(
        with: Data(job.folder.text("plan.json").split(separator: "\n")[0].utf8)) as? [String: Any])
    head["files"] = files
    var text = String(decoding: try JSONSerialization.data(withJSONObject: head), as: UTF8.self)
    text += "\n{\"node\":\"a\\n::error::b\",\"path\":\"c\"}\n"
    try job.folder.write(Data(text.utf8), to: "plan.json")
    let run = try await job.ferry("run", "--plan", "plan.json")
    #expect(run.status == 2, "\(run.stdout)")
    #expect(run.stderr.contains("the files have changed"), "\(run.stderr)")
    #expect(!run.stderr.contains("\n::"), "\(run.stderr)")
  }

  @Test(arguments: [
    "manifest", "variable file", "new file", "changed file", "removed file", "journal", "submission",
  ])
  func `is refused if something has changed since`(_ what: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver.url, JobText.puts)
    #expect(try await job.ferry("plan", "job.yaml", "--out", "plan.json").status == 0)
    var expected = "the files have changed: 2 → "
    switch what {
    case "manifest":
      try job.write(manifest: job.folder.text("job.yaml") + "# another\n")
      expected = "the manifest has changed"
    case "new file":
      try job.write("c", to: "c")
      expected += "3 files to send; the first difference is at files/c"
    case "changed file":
      try job.write("longer", to: "b")
      expected += "2 files to send; the first difference is at files/b"
    case "removed file":
      try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
      expected += "1 files to send; the first difference is at files/a"
    case "journal":
      #expect(try await job.ferry("run", "job.yaml", "--limit", "1").status == 0)
      expected = "the journal has changed: run 2"
    case "submission":
      #expect(try await job.ferry("submit", "job.yaml", "files", "files/a").status == 0)
      expected = "files were submitted, or work was canceled: 0 → 1 notes"
    default:
      // A plan of another version, or another file.
      try job.folder.write(Data("{}\n".utf8), to: "plan.json")
      expected = "plan.json: this is not a plan"
    }
    let before = try await receiver.received().requests
    let run = try await job.ferry("run", "--plan", "plan.json")
    #expect(run.status == 2, "\(run.stdout)")
    #expect(run.stderr.contains(expected), "\(run.stderr)")
    #expect(try await receiver.received().requests == before)
  }
}
