import FerryJournal
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct RequestFactoryTests {
  private static let upload = """
    uploads:
      u:
        session: s
        files: { root: files }
        allocate:
          request: { url: "http://h/ids", json: { name: "${file.path}" } }
          capture: { id: { json: /id } }
        transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }
        commit:
          request: { url: "http://h/${allocate.id}/commit", headers: { X-Hash: "${file.sha256}" } }
          idempotency_key: { header: Idempotency-Key }
    """

  /// If the server rejected a repeated transfer, ferry would release the upload ID of a file that the server may have
  /// received.
  @Test(arguments: [true, false])
  func aTransferThatCountsIsSentOnce(hasAbandon: Bool) throws {
    let upload = String(Self.upload[..<(try #require(Self.upload.range(of: "    commit:"))).lowerBound])
    let abandon = "    abandon: { request: { url: \"http://h/${allocate.id}\" } }\n"
    let run = try TestRun(upload + (hasAbandon ? abandon : ""), files: ["a"])
    _ = try run.request(.allocate)
    try run.respond(to: .allocate, body: #"{"id":"i7"}"#)
    #expect(try run.request(.transfer).atMostOnce == hasAbandon)
  }

  @Test func aRequestHasTheValuesOfItsReferences() throws {
    let run = try TestRun(Self.upload, files: ["a"])
    let allocate = try run.request(.allocate)
    #expect(allocate.method == "POST" && allocate.url == "http://h/ids")
    guard case .bytes(let body) = allocate.body else {
      Issue.record("\(allocate.body)")
      return
    }
    #expect(String(decoding: body, as: UTF8.self) == #"{"name":"a"}"#)
    try run.respond(to: .allocate, body: #"{"id":"i7"}"#)
    let transfer = try run.request(.transfer)
    #expect(transfer.method == "PUT" && transfer.url == "http://h/i7")
    guard case .file(let source) = transfer.body else {
      Issue.record("\(transfer.body)")
      return
    }
    #expect(source.path == Array("a".utf8) && source.size == 1)
    // A later step refers to the digest, so the file is hashed while it is sent.
    #expect(source.wantsSHA256)
    try run.respond(to: .transfer, 201, sha256: [UInt8](repeating: 0xAB, count: 32))
    let commit = try run.request(.commit)
    #expect(commit.url == "http://h/i7/commit")
    #expect(commit.headers.first { $0.name == "X-Hash" }?.value == String(repeating: "ab", count: 32))
    #expect(commit.headers.filter { $0.name == "Idempotency-Key" }.count == 1)
    // With a key, a commit can be sent again, but only by the scheduler, which keeps track of the first attempt.
    // libcurl must not resend it.
    #expect(commit.atMostOnce && !transfer.atMostOnce)
  }

  @Test func aFormHasADifferentBoundaryInEveryAttempt() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          transfer:
            protocol: multipart_form
            form: { fields: { sum: "${file.size}" }, file: { field: photo } }
            request: { url: "http://h/upload" }
      """
    let run = try TestRun(nodes, files: ["a"])
    let attempt = try run.attempt(.transfer)
    var boundaries: [String] = []
    for number in [1, 2] as [UInt64] {
      run.requests.random = { number }
      let request = try run.requests.request(for: attempt, run.scheduler, &run.fetches, at: TestRun.start)
      guard case .form(let body) = request.body else {
        Issue.record("\(request.body)")
        return
      }
      #expect(request.method == "POST" && request.atMostOnce)
      let types = request.headers.filter { $0.name.lowercased() == "content-type" }.map(\.value)
      let boundary = String(types.first?.split(separator: "=").last ?? "")
      #expect(types == ["multipart/form-data; boundary=\(boundary)"])
      #expect(String(decoding: body.prefix, as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
      #expect(String(decoding: body.suffix, as: UTF8.self) == "\r\n--\(boundary)--\r\n")
      #expect(body.source.path == Array("a".utf8) && body.source.size == 1)
      boundaries.append(boundary)
    }
    #expect(Set(boundaries).count == 2)
  }

  @Test func aRequestForTheDigestWaitsForIt() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { url: "http://h/${file.sha256}" } }
      """
    let run = try TestRun(nodes, files: ["a"])
    let attempt = try run.attempt(.transfer)
    let source = try #require(try run.requests.fileToHash(before: attempt, run.scheduler))
    #expect(source.path == Array("a".utf8) && !source.wantsSHA256)
    run.captures.keep(sha256: [UInt8](repeating: 1, count: 32), of: attempt.ref)
    #expect(try run.requests.fileToHash(before: attempt, run.scheduler) == nil)
    #expect(try run.request(.transfer).url == "http://h/" + String(repeating: "01", count: 32))
  }

  @Test func aMissingSubmittedFileFailsUnsent() throws {
    let run = try TestRun(Self.upload, files: ["a"])
    let failure = TransportFailure(.sourceMissing, "it does not exist", mayHaveReachedServer: false)
    run.requests.absent = [try run.attempt(.allocate).ref.node.index: [Array("a".utf8): failure]]
    #expect(throws: failure) { try run.request(.allocate) }
  }

  private static let fetch = """
    fetches:
      f: { session: s, request: { url: "http://h/f" }, save_to: down/f, max_size: 10 kB }
    """

  @Test func aFetchStoresAndIsConditionalOnlyIfItsFileExists() throws {
    let run = try TestRun(Self.fetch.replacing("10 kB", with: "10kB"))
    run.fetches = FetchCache([0: FetchRecord(etag: "\"1\"", lastModified: nil, fetchedAt: TestRun.start)])
    let first = try run.request(.fetch)
    #expect(first.sizeLimit == 10_000)
    guard case .file(let path, let statuses) = first.destination else {
      Issue.record("\(first.destination)")
      return
    }
    #expect(path == run.folder.path + "/down/f" && statuses == [200])
    #expect(first.condition == nil)
    run.folder.file("down/f")
    #expect(try run.request(.fetch).condition?.field == .init(name: "If-None-Match", value: "\"1\""))
  }

  /// A run may be killed after it has replaced the file and before it has recorded the new validators.
  @Test func aFetchIsNotConditionalOnValidatorsOfAnotherFile() throws {
    let run = try TestRun(Self.fetch.replacing("10 kB", with: "10kB"))
    run.folder.file("down/f")
    let file = try #require(FileVersion(path: run.folder.path + "/down/f"))
    func condition() throws -> String? {
      run.fetches = FetchCache([
        0: FetchRecord(etag: "\"1\"", lastModified: nil, fetchedAt: TestRun.start, file: file)
      ])
      return try run.request(.fetch).condition?.field.value
    }
    #expect(try condition() == "\"1\"")
    run.folder.file("down/f", size: 2)
    #expect(try condition() == nil)
  }

  @Test(arguments: [
    ("request: { url: http://h/f }", true),
    ("request: { url: http://h/f }, checksum: { header: Repr-Digest }", true),
    ("request: { url: http://h/f }, checksum: { sha256: \(String(repeating: "0", count: 64)) }", true),
    // `Content-Digest` and `Content-MD5` describe the bytes of a single response.
    ("request: { url: http://h/f }, checksum: { header: Content-Digest }", false),
    ("request: { url: http://h/f }, checksum: { header: Content-MD5 }", false),
    ("request: { method: POST, url: http://h/f }", false),
    ("request: { url: http://h/f, headers: { range: bytes=0-9 } }", false),
    ("request: { url: http://h/f, headers: { If-None-Match: '\"1\"' } }", false),
    ("request: { url: http://h/f, headers: { If-Modified-Since: 'Sun, 06 Nov 1994 08:49:37 GMT' } }", false),
    // The response with the rest may have another value in the header field than the first response.
    ("request: { url: http://h/f }, expect: { header: { X-Kind: a } }", false),
    ("request: { url: http://h/f }, expect: { json: { /ok: 'true' } }", true),
  ])
  func anInterruptedFetchLeavesAPartIfItsRestCanBeRequested(_ keys: String, _ isKept: Bool) throws {
    let run = try TestRun("fetches: { f: { session: s, save_to: out, \(keys) } }")
    #expect(try run.request(.fetch).partOwner == (isKept ? "s\nm\nf" : nil))
  }

  @Test func aFetchWhoseFolderCannotBeMadeFailsUnsent() throws {
    let run = try TestRun(Self.fetch.replacing("10 kB", with: "10kB"))
    run.folder.file("down")
    let error = #expect(throws: TransportFailure.self) { try run.request(.fetch) }
    #expect(error?.code == .destination && error?.mayHaveReachedServer == false)
  }

  /// Another server, or another representation of the document, may have a validator that looks the same.
  @Test func aConditionGoesOnlyToTheURLThatGaveTheValidator() throws {
    let before = try TestRun(Self.fetch.replacing("10 kB", with: "10kB"))
    #expect(try before.request(.fetch).condition == nil)
    let response = TransferResponse(
      status: 200, headers: [(name: "ETag", value: "\"1\"")], body: [], url: "http://h/v1")
    try before.finish(.fetch, .success(response))
    let run = try TestRun(Self.fetch.replacing("10 kB", with: "10kB"))
    run.fetches = FetchCache([0: try #require(before.fetches[NodeID(0)])])
    run.folder.file("down/f")
    let condition = try #require(try run.request(.fetch).condition)
    #expect(condition.applies("http://h/v1") && !condition.applies("http://h/f"))
    #expect(!condition.applies("http://h/v0"))
    // A 304 from another URL is not a valid response to a conditional request.
    let other = TransferResponse(status: 304, headers: [], body: [], url: "http://h/v0")
    let result = try run.finish(.fetch, .success(other))
    guard case .absent = result.response?.condition else {
      Issue.record("\(String(describing: result.response))")
      return
    }
  }
}
