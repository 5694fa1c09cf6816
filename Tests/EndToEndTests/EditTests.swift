import Foundation
import Testing

/// The manifest is edited between two runs of a round (docs/editing.md). When it is edited, two of its eight files are
/// committed, two are transferred and wait for their commits, and four have an upload ID.
@Suite struct `A manifest that is edited between runs` {
  struct Edit: Sendable, CustomTestStringConvertible {
    var what: String
    var replacing: [(String, String)]
    /// The numbers of requests of each kind that the server receives in both runs together. The defaults
    /// apply to runs without an edit.
    var allocations = 8
    var contents = 8
    var commits = 8
    var puts = 0
    var effects: [String: Int] = [:]

    var testDescription: String { what }
  }

  static let files = "files: { root: files }"
  static let retry = "retry: { limit: 0, initial: 10ms }"

  static let edits: [Edit] = [
    Edit(what: "nothing", replacing: []),
    Edit(what: "retry", replacing: [(retry, "retry: { limit: 3, initial: 10ms }")]),
    Edit(
      what: "connections and timeouts",
      replacing: [("max_connections_per_host: 1", "max_connections_per_host: 5"), ("20s", "30s")]),
    Edit(
      what: "the session's kind",
      replacing: [("kind: background", "kind: default")]),
    Edit(
      what: "the session's kind, to ephemeral", replacing: [("kind: background", "kind: ephemeral")],
      allocations: 16, contents: 12, commits: 10, effects: ["other_session": 6]),
    Edit(what: "priority", replacing: [(files, files + "\n    priority: high")]),
    Edit(what: "batch", replacing: [(files, files + "\n    batch: { max_items: 1 }")]),
    Edit(what: "deliver", replacing: [(files, files + "\n    deliver: every_run")]),
    Edit(what: "valid_for", replacing: [("valid_for: 1h", "valid_for: 30m")]),
    Edit(what: "the token's refresh", replacing: [("before_expiry: 1s", "before_expiry: 2s")]),
    Edit(
      what: "exclude, of files that the round has begun",
      replacing: [("root: files }", "root: files, exclude: [\"7.txt\"] }")]),
    Edit(
      what: "already_done is gone", replacing: [("      already_done: { status: [409] }\n", "")]),
    Edit(
      what: "a header field of the transfer",
      replacing: [
        ("content\" }", "content\", headers: { X-Edit: \"1\" } }")
      ]),
    Edit(
      what: "the capture's name",
      replacing: [("capture: { id:", "capture: { upload:"), ("${allocate.id}", "${allocate.upload}")],
      allocations: 14, contents: 10, effects: ["upload_ids_dropped": 6]),
    Edit(
      what: "the commit is gone", replacing: [(commit, "")], commits: 2),
    Edit(
      what: "allocate and commit are gone",
      replacing: [
        (allocate, ""), (commit, ""), ("/uploads/${allocate.id}/content", "/files/${file.path}"),
      ],
      contents: 4, commits: 2, puts: 4, effects: ["upload_ids_dropped": 4]),
    Edit(
      what: "the upload's name", replacing: [("  files:\n    session", "  photos:\n    session")],
      allocations: 16, contents: 12, commits: 10, effects: ["upload_gone": 6]),
    Edit(
      what: "the session's identifier", replacing: [("identifier: e2e.uploads", "identifier: e2e.other")],
      allocations: 16, contents: 12, commits: 10, effects: ["other_session": 6]),
    Edit(
      what: "the upload's session", replacing: [("    session: uploads", "    session: quick")],
      allocations: 16, contents: 12, commits: 10, effects: ["other_session": 6]),
    Edit(
      what: "the manifest's name", replacing: [("name: e2e\n", "name: other\n")],
      allocations: 16, contents: 12, commits: 10, effects: ["other_name": 6]),
    Edit(
      what: "the server", replacing: [("127.0.0.1", "localhost")],
      allocations: 16, contents: 12, commits: 10, effects: ["other_origin": 6]),
  ]

  private static let allocate = """
        allocate:
          session: quick
          request: { url: "${vars.api}/uploads", json: { name: "${file.path}", size: "${file.size}" } }
          capture: { id: { json: /id } }
          valid_for: 1h

    """

  private static let commit = """
        commit:
          session: quick
          request:
            url: ${vars.api}/uploads/${allocate.id}/commit
            json: { size: "${file.size}", sha256: "${file.sha256}" }
          already_done: { status: [409] }

    """

  private func halfway(_ receiver: ReceiverProcess) async throws -> (job: Workspace, text: String) {
    let text = JobText.text(server: receiver.url, connections: 1, JobText.uploadIDs(retry: Self.retry))
    let job = try Workspace(text)
    for index in 0..<8 { try job.write("file \(index)", to: "\(index).txt") }
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stderr)")
    #expect(report.totals.items.done == 2)
    let received = try await receiver.received()
    #expect(received.uploads.reduce(0) { $0 + $1.allocations } == 8)
    #expect((received.contents, received.commits) == (4, 2))
    try await receiver.clearFaults()
    return (job, text)
  }

  @Test(arguments: edits)
  func `resumes all work that the edit does not affect, and reports the rest`(
    _ edit: Edit
  ) async throws {
    let receiver = try await ReceiverProcess.start(
      faults: ["content:every=2,status=500", "commit:every=2,status=501"])
    let (job, before) = try await halfway(receiver)
    var text = before
    for (old, new) in edit.replacing {
      #expect(text.contains(old), "\(old)")
      text = text.replacing(old, with: new)
    }
    try job.write(manifest: text)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.reduce(0) { $0 + $1.allocations } == edit.allocations)
    #expect(received.contents == edit.contents)
    #expect(received.commits == edit.commits)
    #expect(received.files.count == edit.puts)
    let effects = report.run.edits ?? []
    #expect(Dictionary(uniqueKeysWithValues: effects.map { ($0.code, $0.items) }) == edit.effects)
    for effect in effects { #expect(command.stderr.contains(effect.message), "\(command.stderr)") }
    #expect(report.totals.items.done == 8)

    // When the edit is undone, the run resumes the remaining items, and no file is committed twice.
    guard effects.contains(where: { $0.code != "upload_ids_dropped" }) else { return }
    try job.write(manifest: before)
    let (back, rest) = try await job.run()
    #expect(back.status == 0, "\(back.stderr)")
    #expect(rest.totals.items.done + (rest.totals.items.unchanged ?? 0) == 8)
    #expect(rest.totals.itemsDoneInRun == 6)
  }

  @Test func `resumes by file paths if its root has changed`() async throws {
    let receiver = try await ReceiverProcess.start(
      faults: ["content:every=2,status=500", "commit:every=2,status=500"])
    let (job, before) = try await halfway(receiver)
    #expect(try await Command.run("cp", ["-a", "files", "other"], in: job.folder.url).status == 0)
    let open = try #require(
      try await RecordedItems.read(session: "e2e.uploads", of: job).states.first { $0.value == .allocated }?
        .key)
    try FileManager.default.removeItem(atPath: job.folder.path("other/\(open)"))
    try job.write(manifest: before.replacing("root: files }", with: "root: other }"))
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item(open)?.reason?.code == "source_missing")
    #expect(report.totals.items.done == 7 && report.run.edits == nil)
    let received = try await receiver.received()
    #expect(received.uploads.reduce(0) { $0 + $1.allocations } == 8)
    #expect((received.contents, received.commits) == (7, 7))
  }
}
