import FerryJournal
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct FetchCacheTests {
  private static let fetch =
    "fetches: { f: { session: s, request: { url: \"http://h/f\" }, save_to: f } }\n"
  private let node = NodeID(0)

  private func run() throws -> TestRun {
    let run = try TestRun(Self.fetch)
    run.folder.file("f")
    run.fetches = FetchCache([0: FetchRecord(etag: "\"old\"", lastModified: nil, fetchedAt: TestRun.start)])
    return run
  }

  @Test func aNewDocumentBringsItsValidators() throws {
    let run = try run()
    let result = try run.respond(to: .fetch, headers: [("ETag", "\"new\"")])
    #expect(result.response?.mismatch == nil)
    #expect(run.fetches[node]?.etag == "\"new\"")
  }

  /// If the validator were kept, it would be stored and exported in plain text.
  @Test func aValidatorWithASecretIsNotKept() throws {
    let run = try TestRun(Self.fetch, secret: "k5dXq0mZ7sT2vB9aLr4c")
    try run.respond(to: .fetch, headers: [("ETag", "\"k5dXq0mZ7sT2vB9aLr4c\"")])
    #expect(run.fetches[node] != nil && run.fetches[node]?.etag == nil)
  }

  @Test func theFileOfTheValidatorsIsRecorded() throws {
    let run = try run()
    let url = try run.request(.fetch).url
    let response = TransferResponse(
      status: 200, headers: [(name: "ETag", value: "\"new\"")], body: [], url: url,
      storedFile: FileVersion(identity: 1, size: 2, modified: 3))
    try run.finish(.fetch, .success(response))
    #expect(run.fetches[node]?.file == response.storedFile)
  }

  /// Older versions of ferry did not record the file.
  @Test func notModifiedRecordsTheFileThatWasThere() throws {
    let run = try run()
    try run.respond(to: .fetch, 304, headers: [("ETag", "\"old\"")])
    #expect(run.fetches[node]?.file == FileVersion(path: run.folder.path + "/f"))
  }

  @Test func aRejectedDocumentKeepsTheValidators() throws {
    let run = try run()
    let url = try run.request(.fetch).url
    let response = TransferResponse(
      status: 200, headers: [(name: "ETag", value: "\"new\"")], body: [], url: url,
      refusal: "its JSON is another")
    let result = try run.finish(.fetch, .success(response))
    #expect(result.response?.mismatch == "its JSON is another")
    #expect(run.fetches[node]?.etag == "\"old\"")
  }

  @Test func notModifiedKeepsTheValidators() throws {
    let run = try run()
    let result = try run.respond(to: .fetch, 304, headers: [("ETag", "\"old\"")])
    #expect(result.response?.mismatch == nil)
    #expect(run.fetches[node]?.etag == "\"old\"")
  }

  @Test func onlyADirectResponseToAGetIsFresh() throws {
    let fields = [("ETag", "\"new\""), ("Cache-Control", "max-age=60")]
    let run = try run()
    try run.respond(to: .fetch, headers: fields)
    #expect(run.fetches[node]?.freshUntil == TestRun.start.advanced(by: .seconds(60)))

    let redirected = try self.run()
    _ = try redirected.request(.fetch)
    let response = TransferResponse(
      status: 200, headers: fields.map { (name: $0.0, value: $0.1) }, body: [], url: "http://h/other")
    try redirected.finish(.fetch, .success(response))
    #expect(redirected.fetches[node]?.etag == "\"new\"" && redirected.fetches[node]?.freshUntil == nil)

    // A 304 without a new lifetime ends the old lifetime.
    let old = try self.run()
    let fresh = TestRun.start.advanced(by: .seconds(60))
    old.fetches = FetchCache([
      0: FetchRecord(etag: "\"old\"", lastModified: nil, fetchedAt: TestRun.start, freshUntil: fresh)
    ])
    try old.respond(to: .fetch, 304, headers: [("ETag", "\"old\"")])
    #expect(old.fetches[node]?.etag == "\"old\"" && old.fetches[node]?.freshUntil == nil)
  }

  @Test func anErrorKeepsTheValidators() throws {
    let run = try run()
    try run.respond(to: .fetch, 500, headers: [("ETag", "\"new\"")])
    #expect(run.fetches[node]?.etag == "\"old\"")
  }
}
