import Foundation
import Testing

/// A file changes between its listing and its `after` action. docs/files.md contains the table of these changes.
@Suite struct `A file that changes` {
  enum Phase: String, Sendable {
    case listed = "listed, not sent"
    case sending = "being sent"
    case sent = "sent, not committed"
    case delivered = "delivered, not moved"
  }

  struct Change: Sendable, CustomTestStringConvertible {
    var phase: Phase
    var what: String
    /// A shell script; `$f` is the file.
    var script: String
    var exit: Int32
    /// `done` or `failed`.
    var state: String
    var code: String?
    /// A part of the expected message.
    var says: String = ""

    var testDescription: String { "\(phase.rawValue): \(what)" }

    /// The line of docs/files.md that describes the change.
    var line: String {
      "| \(phase.rawValue) | \(what) | \(state) | \(code.map { "`\($0)`" } ?? "") | \(exit) |"
    }
  }

  private static let overwrite = "printf X | dd of=\"$f\" conv=notrunc status=none"
  private static let twin =
    "cp -p \"$f\" t && printf X | dd of=t conv=notrunc status=none && touch -r \"$f\" t && mv t \"$f\""
  private static let isRoot = geteuid() == 0

  static let changes: [Change] = [
    Change(
      phase: .listed, what: "grows", script: "echo more >> \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has grown from 1000 to 1005 bytes"),
    Change(
      phase: .listed, what: "shrinks", script: "truncate -s 999 \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has shrunk from 1000 to 999 bytes"),
    Change(
      phase: .listed, what: "is emptied", script: ": > \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has shrunk from 1000 to 0 bytes"),
    Change(
      phase: .listed, what: "is rewritten with the same size", script: overwrite, exit: 4, state: "failed",
      code: "source_changed", says: "has been written to since it was listed"),
    Change(
      phase: .listed, what: "gets a different modification time", script: "touch \"$f\"", exit: 4,
      state: "failed",
      code: "source_changed", says: "has been written to since it was listed"),
    Change(
      phase: .listed, what: "vanishes", script: "rm \"$f\"", exit: 1, state: "failed",
      code: "source_missing", says: "the file existed when it was listed"),
    Change(
      phase: .listed, what: "its folder is removed", script: "mv files/sub files/other", exit: 1,
      state: "failed", code: "source_missing", says: "the file existed when it was listed"),
    Change(
      phase: .listed, what: "its folder is replaced by a file", script: "rm -r files/sub && touch files/sub",
      exit: 1, state: "failed", code: "source_missing", says: "the file existed when it was listed"),
    Change(
      phase: .listed, what: "becomes a folder", script: "rm \"$f\" && mkdir \"$f\"", exit: 1,
      state: "failed", code: "source_unreadable", says: "no longer a regular file"),
    Change(
      phase: .listed, what: "becomes a FIFO", script: "rm \"$f\" && mkfifo \"$f\"", exit: 1,
      state: "failed", code: "source_unreadable", says: "no longer a regular file"),
    Change(
      phase: .listed, what: "becomes a dangling link", script: "ln -sf nothing \"$f\"", exit: 1,
      state: "failed", code: "source_missing", says: "the file existed when it was listed"),
    Change(
      phase: .listed, what: "becomes a link out of the root",
      script: "echo other > other && ln -sf \"$PWD/other\" \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "leads out of the root"),
    Change(
      phase: .listed,
      what: "becomes a link to a file outside the root with the same size and modification time",
      script: "cp -p \"$f\" other && ln -sf ../../other \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "leads out of the root"),
    Change(
      phase: .listed,
      what: "is moved out of the root with its folder, which is replaced by a link to the new location",
      script: "mv files/sub moved && ln -s \"$PWD/moved\" files/sub", exit: 4, state: "failed",
      code: "source_changed", says: "leads out of the root"),
    Change(
      phase: .listed, what: "becomes a link to another file in the root",
      script: "echo other > files/other && ln -sf ../other \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has shrunk from 1000 to 6 bytes"),
    Change(
      phase: .listed, what: "becomes a link to a file in the root with the same size and modification time",
      script: "cp -p \"$f\" files/other && ln -sf \"$PWD/files/other\" \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "it has been replaced by another file"),
    Change(
      phase: .listed, what: "is moved within the root, and replaced by a link to its new location",
      script: "mv \"$f\" files/moved && ln -s ../moved \"$f\"", exit: 0, state: "done"),
    Change(
      phase: .listed, what: "is replaced by a file with the same size and modification time", script: twin,
      exit: 4,
      state: "failed", code: "source_changed", says: "it has been replaced by another file"),
    Change(
      phase: .sending, what: "grows", script: "echo more >> \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has grown from"),
    Change(
      phase: .sending, what: "shrinks", script: "truncate -s 1000000 \"$f\"", exit: 4, state: "failed",
      code: "source_changed", says: "has shrunk from"),
    Change(
      phase: .sending, what: "is rewritten with the same size", script: overwrite, exit: 4, state: "failed",
      code: "source_changed", says: "has been written to since it was listed"),
    Change(
      phase: .sending, what: "gets a different modification time", script: "touch \"$f\"", exit: 4,
      state: "failed",
      code: "source_changed", says: "has been written to since it was listed"),
    Change(phase: .sending, what: "vanishes", script: "rm \"$f\"", exit: 0, state: "done"),
    Change(
      phase: .sending, what: "is replaced by another file",
      script: "echo other > t && mv t \"$f\"", exit: 0, state: "done"),
    Change(phase: .sent, what: "is rewritten", script: overwrite, exit: 0, state: "done"),
    Change(phase: .sent, what: "vanishes", script: "rm \"$f\"", exit: 0, state: "done"),
    Change(
      phase: .delivered, what: "is rewritten", script: overwrite, exit: 0, state: "done",
      code: "after_changed", says: "the file changed after it was sent and therefore remained in place"),
    Change(
      phase: .delivered, what: "is replaced by a file with the same size and modification time", script: twin,
      exit: 0,
      state: "done", code: "after_changed",
      says: "the file changed after it was sent and therefore remained in place"),
    Change(
      phase: .delivered, what: "becomes a folder", script: "rm \"$f\" && mkdir \"$f\"", exit: 0,
      state: "done", code: "after_changed",
      says: "the file changed after it was sent and therefore remained in place"),
    Change(
      phase: .delivered, what: "vanishes", script: "rm \"$f\"", exit: 0, state: "done",
      code: "after_missing", says: "the file disappeared before it could be moved"),
  ]

  private static let name = "sub/x.bin"

  private func job(_ server: String, _ nodes: String, size: Int = 1000) throws -> Workspace {
    let job = try Workspace(JobText.text(server: server, nodes))
    try job.folder.write(Data(repeating: 0x61, count: size), to: "files/\(Self.name)")
    return job
  }

  private func apply(_ change: Change, to job: Workspace) async throws {
    let command = try await Command.run(
      "sh", ["-ec", change.script], environment: ["f": "files/\(Self.name)"], in: job.folder.url)
    #expect(command.status == 0, "\(command.stderr)")
  }

  /// Applies the change in its phase. Returns the run that finds the changed file.
  private func run(_ change: Change) async throws -> (Command, Workspace) {
    let patience = "retry: { limit: 1000, initial: 10ms, max: 100ms }"
    switch change.phase {
    case .listed, .sent:
      let isListed = change.phase == .listed
      let receiver = try await ReceiverProcess.start(
        faults: [isListed ? "allocate:status=503" : "commit:status=503"])
      let job = try job(receiver.url, JobText.uploadIDs(retry: patience))
      let run = try job.start(["run", "job.yaml", "--report", "report.json"])
      _ = try await receiver.received {
        isListed ? $0.requests >= 3 : $0.byName[Self.name]?.contents == 1
      }
      try await apply(change, to: job)
      try await receiver.clearFaults()
      let command = await run.end()
      let upload = try await receiver.received().byName[Self.name]
      #expect(upload?.commits ?? 0 == (change.state == "done" ? 1 : 0))
      return (command, job)
    case .sending:
      let server = try await GateServer.start()
      let job = try job(server.url, JobText.puts, size: 24 << 20)
      let run = try job.start(["run", "job.yaml", "--report", "report.json"])
      try await server.isHalfway()
      try await apply(change, to: job)
      try server.open()
      let command = await run.end()
      #expect(server.hasStored == (change.state == "done"))
      return (command, job)
    case .delivered:
      let receiver = try await ReceiverProcess.start()
      let job = try job(
        receiver.url, JobText.puts + "\n    deliver: once\n    after: { move_to: sent/ }")
      // The first run cannot move the file, because `sent` contains a file of the same name.
      try job.folder.write(Data("taken".utf8), to: "files/sent/\(Self.name)")
      #expect(try await job.run().command.status == 5)
      try await apply(change, to: job)
      try FileManager.default.removeItem(atPath: job.folder.path("files/sent/\(Self.name)"))
      return (try await job.run().command, job)
    }
  }

  @Test(arguments: changes)
  func `has an outcome that depends on when and how it changes`(_ change: Change) async throws {
    let (command, job) = try await run(change)
    let report = try job.report()
    #expect(command.status == change.exit, "\(command.stdout)\(command.stderr)")
    let item = report.item(Self.name)
    if change.phase == .delivered {
      let after = try #require(report.node("files")?.after)
      #expect(after.moved == 0)
      #expect(after.problems.map(\.code) == [change.code])
      #expect(after.problems.allSatisfy { $0.message.contains(change.says) && !$0.isOwed })
      #expect(!FileManager.default.fileExists(atPath: job.folder.path("files/sent/\(Self.name)")))
      return
    }
    #expect(item?.state ?? "done" == change.state)
    #expect(item?.reason?.code == change.code)
    #expect(item?.reason?.message.contains(change.says) ?? change.says.isEmpty, "\(String(describing: item))")
    #expect(report.totals.items.done == (change.state == "done" ? 1 : 0))
  }

  /// The superuser can read every file, so this outcome is possible only for other users.
  @Test func `and is no longer readable fails, and reports which user needs access`() async throws {
    guard !Self.isRoot else {
      FileHandle.standardError.write(Data("skipped: the superuser reads files of mode 000\n".utf8))
      return
    }
    let change = Change(
      phase: .listed, what: "loses its permission", script: "chmod 000 \"$f\"", exit: 1, state: "failed",
      code: "source_unreadable", says: "give the user that runs ferry read permission")
    let (command, job) = try await run(change)
    #expect(command.status == change.exit)
    let reason = try job.report().item(Self.name)?.reason
    #expect(reason?.code == change.code)
    #expect(reason?.message.contains(change.says) == true)
  }

  @Test func `and is missing from the place that a list names is reported, and the others are sent`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, list: list.txt }")))
    try job.write("a", to: "a.txt")
    try job.folder.write(Data("a.txt\ngone.txt\n".utf8), to: "list.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 1)
    #expect(report.node("files")?.state == "failed")
    #expect(report.node("files")?.problems?.map(\.path) == ["gone.txt"])
    #expect(report.node("files")?.problems?.map(\.code) == ["source_missing"])
    #expect(command.stdout.contains("gone.txt: not listed: it does not exist"), "\(command.stdout)")
  }

  @Test func `is only counted beyond the first 10,000 listed files that are missing`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, list: list.txt }")))
    try job.write("a", to: "a.txt")
    let list = (0..<10_003).map { "gone \($0).txt\n" }.joined() + "a.txt\n"
    try job.folder.write(Data(list.utf8), to: "list.txt")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.stdout.hasSuffix("\n      not listed: 3 more\n"), "\(plan.stdout.suffix(200))")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 10_003)
    #expect(report.node("files")?.problems?.count == 10_000)
    #expect(report.node("files")?.problemsOmitted == 3)
    #expect(command.stderr.suffix(500).contains("files: and 3 more\n"), "\(command.stderr.suffix(500))")
    #expect(
      command.stdout.contains("files: 10,003 × not listed: it does not exist (first: gone 0.txt)"),
      "\(command.stdout)")
    let text = try await job.ferry("report").stdout
    #expect(text.contains("and 3 more that are not in the report"), "\(text)")
  }

  @Test func `is in the documentation with its result`() throws {
    let page = try String(contentsOf: Product.package.appending(path: "docs/files.md"), encoding: .utf8)
    for change in Self.changes { #expect(page.contains(change.line), "\(change.line)") }
  }
}
