import Foundation
import Testing

/// The checksum of a fetch whose file an earlier run stored.
@Suite("The checksum of a stored file")
struct ChecksumOfStoredFileTests {
  private static let old = (
    body: "old", sha256: "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4"
  )
  private static let new = (
    body: "new", sha256: "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
  )

  private static func sums(_ sha256: String) -> ScriptedServer.Response {
    .init(status: 200, body: #"{ "sha256": "\#(sha256)" }"#)
  }

  private static func document(_ headers: [String: String]) -> ScriptedServer.Response {
    .init(status: 200, headers: headers.merging(["ETag": "\"v1\""]) { $1 }, body: old.body)
  }

  private static func manifest(_ server: ScriptedServer, _ checksum: String) -> String {
    """
    version: 1
    name: stored
    sessions: { s: {} }
    requests:
      sums: { session: s, request: { url: "\(server.home)/sums" }, capture: { image: { json: /sha256 } } }
      publish: { session: s, needs: [image], retry: { limit: 0 }, request: { method: POST, url: "\(server.home)/publish" } }
    fetches:
      image:
        session: s
        retry: { limit: 0 }
        save_to: image
        request: { url: "\(server.home)/image" }
        checksum: { sha256: "\(checksum)" }
    """
  }

  /// The digest comes from another request, and its value changes.
  @Test(arguments: [[:], ["Cache-Control": "max-age=86400"]])
  func `is compared if its captured value has changed`(_ headers: [String: String]) async throws {
    var sums = Self.sums(Self.old.sha256)
    sums.next = [sums, Self.sums(Self.new.sha256)]
    let server = try await ScriptedServer.start(["/sums": sums, "/image": Self.document(headers)])
    let job = try Workspace(Self.manifest(server, "${requests.sums.image}"))
    #expect(try await job.run().command.status == 0)
    // The same digest: the server is asked whether the document has changed.
    _ = try await job.run()
    #expect(
      server.requests.filter { $0.path == "/image" }.map { $0.headers["if-none-match"] } == [nil, "\"v1\""])

    let (command, report) = try await job.run()
    #expect(command.status != 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("image")?.state == "failed")
    #expect(server.requests.last { $0.path == "/image" }?.headers["if-none-match"] == nil)
    #expect(server.lines.count { $0.contains("POST /publish") } == 2)
    #expect(job.folder.text("image") == Self.old.body)
  }

  @Test(arguments: [[:], ["Cache-Control": "max-age=86400"]])
  func `is compared if it was edited`(_ headers: [String: String]) async throws {
    let server = try await ScriptedServer.start([
      "/sums": Self.sums(Self.old.sha256), "/image": Self.document(headers),
    ])
    let job = try Workspace(Self.manifest(server, Self.old.sha256))
    #expect(try await job.run().command.status == 0)
    try job.folder.write(Data(Self.manifest(server, Self.new.sha256).utf8), to: "job.yaml")
    let (command, report) = try await job.run()
    #expect(command.status != 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("image")?.state == "failed")
    #expect(server.requests.filter { $0.path == "/image" }.map { $0.headers["if-none-match"] } == [nil, nil])
    #expect(job.folder.text("image") == Self.old.body)
  }

  /// The fetch has already ended in the round.
  @Test func `is compared in the next round if it was edited in an open one`() async throws {
    var publish = ScriptedServer.Response(status: 425)
    publish.next = [publish, .init(status: 200)]
    let server = try await ScriptedServer.start([
      "/sums": Self.sums(Self.old.sha256), "/image": Self.document([:]), "/publish": publish,
    ])
    let job = try Workspace(Self.manifest(server, Self.old.sha256))
    #expect(try await job.run().command.status == 5)
    try job.folder.write(Data(Self.manifest(server, Self.new.sha256).utf8), to: "job.yaml")
    #expect(try await job.run().report.node("image")?.state == "succeeded")
    #expect(try await job.run().command.status == 0)
    #expect(server.requests.count { $0.path == "/image" } == 1)
    let (command, report) = try await job.run()
    #expect(command.status != 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("image")?.state == "failed")
  }
}
