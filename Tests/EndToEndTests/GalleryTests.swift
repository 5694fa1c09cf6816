import Foundation
import Testing

/// Several galleries in one session. Each is a manifest with photos, and with an index of higher priority.
@Suite("Two galleries of a session")
struct GalleryTests {
  /// The manifest of a gallery with files in `NAME/photos` and `NAME/index`.
  private static func text(
    _ receiver: ReceiverProcess, _ name: String, session: String = "", index: String = ""
  ) -> String {
    """
    version: 1
    name: \(name)
    secrets: { key: { env: E2E_SECRET } }
    sessions:
      photos: { kind: background, identifier: galleries, max_connections_per_host: 1\(session) }
      auth: { kind: ephemeral }
    tokens:
      login:
        session: auth
        request:
          method: POST
          url: "\(receiver.url)/oauth/token"
          form: { grant_type: client_credentials, client_id: e2e, client_secret: "${secrets.key}" }
        capture: { access_token: { json: /access_token, secret: true } }
        apply: { header: Authorization, value: "Bearer ${token.access_token}" }
    uploads:
      photos:
        session: photos
        token: login
        files: { root: \(name)/photos }
        transfer: { request: { url: "\(receiver.url)/files/\(name)/${file.path}" } }
        \(JobText.retry)
      index:
        session: photos
        token: login
        priority: high
        files: { root: \(name)/index }
        after: { move_to: sent }
        transfer: { request: { url: "\(receiver.url)/files/\(name)/${file.path}" } }
        \(JobText.retry)
        \(index)

    """
  }

  private func workspace(
    _ receiver: ReceiverProcess, session: String = "", index: String = ""
  ) throws -> Workspace {
    let job = try Workspace(Self.text(receiver, "one"))
    try job.folder.write(
      Data(Self.text(receiver, "two", session: session, index: index).utf8), to: "two.yaml")
    for name in ["one", "two"] {
      for number in 0..<(name == "one" ? 12 : 2) {
        try job.folder.write(Data("photo \(number)".utf8), to: "\(name)/photos/p\(number)")
      }
      try job.folder.write(Data("index of \(name)".utf8), to: "\(name)/index/i")
    }
    return job
  }

  /// Returns the files in the order in which they were sent.
  private func puts(_ receiver: ReceiverProcess) -> [String] {
    receiver.log.compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count > 1, parts[0] == "PUT" else { return nil }
      return parts[1].split(separator: "/").suffix(2).joined(separator: "/")
    }
  }

  @Test func `have their indexes sent before the photos of both in one run`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02"])
    let job = try workspace(receiver)
    let run = try await job.ferry("run", "job.yaml", "two.yaml")
    #expect(run.status == 0, "\(run.stderr)")
    let puts = puts(receiver)
    #expect(Set(puts.prefix(2)) == ["one/i", "two/i"], "\(puts)")
    #expect(puts.count == 16)
  }

  @Test func `have the second one's index sent before the remaining photos of a run of the first`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.7"])
    let job = try workspace(receiver)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.contains { $0.name == "one/p1" } }
    for upload in ["photos", "index"] {
      let submit = try await job.ferry("submit", "two.yaml", upload)
      #expect(submit.status == 0, "\(submit.stderr)")
      #expect(
        submit.stdout.contains(
          "; process \(run.pid) was asked to send \(upload == "index" ? "it" : "them"); the next run sends every file that the process does not send\n"
        ),
        "\(submit.stdout)")
    }
    _ = try await receiver.received { $0.files.contains { $0.name == "two/i" } }
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stderr)")
    let puts = puts(receiver)
    let index = try #require(puts.firstIndex(of: "two/i"), "\(puts)")
    // The second gallery's index is sent before the remaining photos of the first gallery, and its photos are sent
    // after them.
    #expect(puts[..<index].allSatisfy { $0.hasPrefix("one/") }, "\(puts)")
    #expect(puts[index...].count { $0.hasPrefix("one/p") } >= 5, "\(puts)")
    #expect(puts.suffix(2) == ["two/p0", "two/p1"] && puts.count == 16, "\(puts)")
    let report = try SeveralReport.decode(Data(contentsOf: URL(filePath: job.folder.path("report.json"))))
    #expect(report.run.manifests.map(\.name) == ["one", "two"])
    #expect(report.run.manifests.map(\.roundClosed) == [true, false])
    #expect(report.states["two/index"] == "succeeded" && report.states["two/photos"] == "succeeded")
    #expect(FileManager.default.fileExists(atPath: job.folder.path("two/index/sent/i")))
    #expect(try await job.status().session("galleries")?.notes.isEmpty == true)
    // The next run of the second gallery sends no file again.
    let next = try await job.ferry("run", "two.yaml")
    #expect(next.status == 0, "\(next.stderr)")
    #expect(self.puts(receiver).count == 16)
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
  }

  @Test(arguments: [
    (", timeout_for_request: 7s", "", "'timeout_for_request' of session 'galleries' differs"),
    ("", "needs: [photos]", "it needs photos"),
  ])
  func `are not mixed if that is impossible, and the run reports why`(
    _ session: String, _ index: String, reason: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.7"])
    let job = try workspace(receiver, session: session, index: index)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.contains { $0.name == "one/p1" } }
    #expect(try await job.ferry("submit", "two.yaml", "index").status == 0)
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stderr)")
    #expect(
      end.stderr.contains("ferry: two/index: 1 file submitted to this run will be sent by the next run: "),
      "\(end.stderr)")
    #expect(end.stderr.contains(reason), "\(end.stderr)")
    #expect(try await job.status().session("galleries")?.notes.count == 1)
    #expect(try await job.ferry("resume").status == 0)
    #expect(puts(receiver).contains("two/i"))
  }

  @Test func `have an ambiguous commit of the second in the report of the first`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.7"])
    let server = try await RawResponder.start([
      "/commit": ["HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"]
    ])
    let commit = "commit: { request: { method: POST, url: '\(server.url)/commit' } }"
    let job = try workspace(receiver, index: commit)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.contains { $0.name == "one/p1" } }
    #expect(try await job.ferry("submit", "two.yaml", "index").status == 0)
    _ = try await receiver.received { $0.files.contains { $0.name == "two/i" } }
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 1, "\(end.stderr)")
    let report = try SeveralReport.decode(Data(contentsOf: URL(filePath: job.folder.path("report.json"))))
    #expect(report.states["two/index"] == "ambiguous" && report.states["one/photos"] == "succeeded")
  }

  @Test func `are resumed both if the run is killed after the second has joined`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.7"])
    let job = try workspace(receiver)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.contains { $0.name == "one/p1" } }
    #expect(try await job.ferry("submit", "two.yaml", "photos").status == 0)
    #expect(try await job.ferry("submit", "two.yaml", "index").status == 0)
    _ = try await receiver.received { $0.files.contains { $0.name == "two/i" } }
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
    let resume = try await job.ferry("resume")
    #expect(resume.status == 0, "\(resume.stdout)\(resume.stderr)")
    #expect(Set(puts(receiver)).count == 16)
    #expect(try await job.status().session("galleries")?.notes.isEmpty == true)
  }
}
