import FerryManifest
import FerrySimulation
import Testing

@testable import FerryPlan

/// The requests and responses of draft-ietf-httpbis-resumable-upload.
@Suite struct `A resumable upload` {
  private static let whole = Resumable()
  private static let chunked = Resumable(chunkSize: 100, interopVersion: 8)

  private func state(
    _ offset: Int64 = 0, isUncertain: Bool = false, hasResource: Bool = true, limit: UploadLimit? = nil
  ) -> TransferState {
    var state = TransferState(isUncertain: isUncertain, hasResource: hasResource)
    state.confirmedOffset = offset
    state.limit = limit
    return state
  }

  @Test func `begins with the request of the manifest, and continues at its resource`() {
    #expect(Self.whole.next(state(isUncertain: true, hasResource: false), size: 250) == .create(0..<250))
    #expect(Self.chunked.next(state(isUncertain: true, hasResource: false), size: 250) == .create(0..<100))
    #expect(Self.whole.next(state(isUncertain: true), size: 250) == .queryOffset)
    #expect(Self.whole.next(state(99), size: 250) == .send(99..<250))
    #expect(Self.chunked.next(state(100), size: 250) == .send(100..<200))
    #expect(Self.chunked.next(state(200), size: 250) == .send(200..<250))
    // If all bytes have been sent, an empty part completes the upload.
    #expect(Self.whole.next(state(250), size: 250) == .send(250..<250))
    #expect(Self.whole.next(state(hasResource: false), size: 0) == .create(0..<0))
    #expect([0, 1, 100, 101].map { Self.chunked.requestCount(size: $0) } == [1, 1, 1, 2])
  }

  @Test func `keeps within the limits of the server`() {
    let limit = UploadLimit(maxAppendSize: 60, minAppendSize: 40)
    #expect(Self.whole.next(state(limit: limit), size: 250) == .send(0..<60))
    #expect(Self.chunked.next(state(limit: limit), size: 250) == .send(0..<60))
    #expect(Resumable(chunkSize: 10).next(state(limit: limit), size: 250) == .send(0..<40))
    #expect(Resumable(chunkSize: 10).next(state(245, limit: limit), size: 250) == .send(245..<250))
    #expect(limit.conflict(size: 250) == nil)
    #expect(UploadLimit(maxSize: 250).conflict(size: 250) == nil)
    #expect(UploadLimit(maxSize: 249).conflict(size: 250) != nil)
    // The number of requests that a server can require is limited.
    #expect(UploadLimit(maxAppendSize: 1).conflict(size: 100_000) == nil)
    #expect(UploadLimit(maxAppendSize: 1).conflict(size: 100_001) != nil)
    #expect(UploadLimit(maxAppendSize: 0).conflict(size: 1) != nil)
    #expect(UploadLimit(maxAppendSize: 0).conflict(size: 0) == nil)
  }

  private func fields(_ machine: Resumable, _ operation: TransferOperation) -> [String] {
    machine.request(for: operation, size: 250).fields.map { "\($0.name): \($0.value)" }
  }

  @Test func `states whether its bytes complete the file`() {
    #expect(
      fields(Self.whole, .create(0..<250))
        == ["Upload-Draft-Interop-Version: 6", "Upload-Complete: ?1", "Upload-Length: 250"])
    #expect(
      fields(Self.chunked, .create(0..<100))
        == ["Upload-Draft-Interop-Version: 8", "Upload-Complete: ?0", "Upload-Length: 250"])
    #expect(
      fields(Self.chunked, .send(100..<200))
        == [
          "Upload-Draft-Interop-Version: 8", "Upload-Complete: ?0", "Upload-Offset: 100",
          "Content-Type: application/partial-upload",
        ])
    #expect(fields(Self.chunked, .send(250..<250)).contains("Upload-Complete: ?1"))
    #expect(fields(Self.whole, .queryOffset) == ["Upload-Draft-Interop-Version: 6"])
    #expect(
      fields(Resumable(interopVersion: 3), .send(0..<250))
        == ["Upload-Draft-Interop-Version: 3", "Upload-Incomplete: ?0", "Upload-Offset: 0"])
    let requests = [TransferOperation.create(0..<250), .queryOffset, .send(0..<9)].map {
      Self.whole.request(for: $0, size: 250)
    }
    #expect(requests.map(\.method) == [nil, "HEAD", "PATCH"])
    #expect(requests.map(\.isForResource) == [false, true, true])
  }

  struct Row: Sendable {
    var operation: TransferOperation
    var response: StatedResponse
    var reading: TransferReading
  }

  private static func row(
    _ operation: TransferOperation, _ status: Int, _ fields: [String: String], _ reading: TransferReading,
    type: String? = nil
  ) -> Row {
    Row(
      operation: operation,
      response: StatedResponse(
        status: status, fields: fields.mapValues { [$0] },
        type: type.map { "https://iana.org/assignments/http-problem-types#" + $0 }), reading: reading)
  }

  private static let early: TransferReading = .malformed(
    "the server completed the upload after 70 of 250 bytes")

  static let rows = [
    // Responses to the first request.
    row(.create(0..<250), 201, ["location": "/made/1"], .other),
    row(.create(0..<250), 200, ["upload-complete": "?1", "location": "/made/1"], .completed),
    row(.create(0..<250), 400, ["upload-complete": "?1"], .completed),
    row(.create(0..<250), 500, ["upload-complete": "?1"], .completed),
    row(.create(0..<250), 500, [:], .other), row(.create(0..<250), 404, [:], .other),
    row(.create(0..<250), 409, [:], .other),
    row(.create(0..<250), 201, ["upload-complete": "?0", "upload-offset": "70"], .offset(70)),
    row(.create(0..<250), 201, ["upload-complete": "?0"], .offset(250)),
    row(.create(0..<250), 201, ["upload-complete": "?1", "upload-offset": "70"], early),
    // tusd responds without Upload-Complete.
    row(.create(0..<250), 201, ["upload-offset": "250", "location": "/files/1"], .other),
    row(.create(0..<250), 201, ["upload-offset": "70", "location": "/files/1"], .offset(70)),
    row(.create(0..<100), 201, ["upload-complete": "?0", "location": "/u/1"], .offset(100)),
    row(.create(0..<100), 201, ["upload-limit": "min-size=0", "location": "/u/1"], .offset(100)),
    row(
      .create(0..<100), 201, ["location": "/made/1"],
      .malformed(
        "the server does not support resumable uploads, and treated the first 100 of 250 bytes as the whole file; remove "
          + "'chunk_size'")),
    row(.create(0..<250), 413, ["upload-limit": "max-append-size=100"], .refused),
    row(.create(0..<250), 413, ["upload-limit": "max-append-size=250"], .other),
    row(.create(0..<250), 413, [:], .other),
    // A field with an invalid value is ignored.
    row(.create(0..<250), 201, ["upload-complete": "?2"], .other),
    row(.create(0..<250), 201, ["upload-complete": "1"], .other),
    row(.create(0..<250), 201, ["upload-offset": "-70"], .other),
    // Responses to parts.
    row(.send(100..<200), 204, ["upload-complete": "?0"], .offset(200)),
    row(.send(100..<200), 204, ["upload-complete": "?0", "upload-offset": "150"], .offset(150)),
    row(.send(100..<200), 204, [:], .offset(200)),
    row(.send(100..<250), 204, ["upload-offset": "250"], .other),
    row(.send(100..<250), 204, ["upload-offset": "150"], .offset(150)),
    row(.send(100..<250), 200, ["upload-complete": "?1"], .completed),
    row(
      .send(100..<250), 200, [:],
      .damaged("the response to the end of the file does not show that the server has completed the upload")),
    row(.send(100..<250), 409, ["upload-offset": "150"], .refused, type: "mismatching-upload-offset"),
    row(.send(100..<250), 409, [:], .refused), row(.send(100..<250), 423, [:], .refused),
    row(.send(100..<250), 404, [:], .gone), row(.send(100..<250), 410, [:], .gone),
    row(.send(100..<250), 400, [:], .other, type: "inconsistent-upload-length"),
    row(
      .send(100..<250), 400, [:], .damaged("the server states that the upload has already been completed"),
      type: "completed-upload"),
    row(.send(250..<250), 204, [:], .other),
    row(.send(100..<250), 201, ["upload-offset": "300"], .offset(300)),
    row(.send(100..<200), 204, ["upload-offset": "250"], .offset(250)),
    row(.send(250..<250), 400, ["upload-complete": "?0"], .completedEarlier, type: "completed-upload"),
    row(.send(250..<250), 400, ["upload-complete": "?1"], .completedEarlier, type: "completed-upload"),
    row(.send(250..<250), 200, ["upload-complete": "?0", "upload-offset": "250"], .offset(250)),
    row(.send(250..<250), 201, ["upload-complete": "?1"], .completed),
    row(.send(100..<250), 413, ["upload-limit": "max-append-size=10"], .refused),
    row(.send(100..<250), 503, [:], .other), row(.send(100..<250), 401, [:], .other),
    // Responses to queries.
    row(.queryOffset, 204, ["upload-offset": "70", "upload-complete": "?0"], .offset(70)),
    row(.queryOffset, 200, ["upload-offset": "250", "upload-complete": "?1"], .offset(250)),
    row(.queryOffset, 204, ["upload-offset": "70", "upload-complete": "?1"], early),
    row(.queryOffset, 204, [:], .malformed("the response has no valid Upload-Offset")),
    row(.queryOffset, 204, ["upload-offset": "7x"], .malformed("the response has no valid Upload-Offset")),
    row(
      .queryOffset, 204, ["upload-offset": "70", "upload-length": "251"],
      .foreign("the server states an upload length that differs from the file's 250 bytes")),
    row(.queryOffset, 404, [:], .gone), row(.queryOffset, 410, [:], .gone),
    row(.queryOffset, 500, [:], .other),
  ]

  @Test(arguments: rows)
  func `is judged by its responses`(_ row: Row) {
    #expect(Self.chunked.read(row.response, to: row.operation, size: 250) == row.reading)
  }

  @Test(arguments: [
    (104, ["upload-draft-interop-version": "8"], true), (104, ["upload-draft-interop-version": "7"], false),
    (104, [:], false), (201, [:], false), (201, ["upload-complete": "?0"], true),
    (201, ["upload-complete": "?1"], false), (201, ["upload-limit": "min-size=0"], true),
    (201, ["upload-offset": "3"], true), (404, ["upload-complete": "?0"], false),
    (104, ["upload-draft-interop-version": "8;a=1"], true),
    (103, ["upload-draft-interop-version": "8"], false),
  ])
  func `has a resource if a response of the same version assigns one`(
    _ status: Int, _ fields: [String: String], isAssigned: Bool
  ) {
    var all = fields.mapValues { [$0] }
    #expect(Self.chunked.resource(in: StatedResponse(status: status, fields: all), to: .create(0..<9)) == nil)
    all["location"] = ["/uploads/1"]
    let response = StatedResponse(status: status, fields: all)
    #expect(Self.chunked.resource(in: response, to: .create(0..<9)) == (isAssigned ? "/uploads/1" : nil))
    // A part is sent to the resource, so `Location` in the response has another meaning.
    #expect(Self.chunked.resource(in: response, to: .send(0..<9)) == nil)
  }

  // MARK: Structured fields

  @Test(arguments: [
    ("0", StructuredField.Item.integer(0)), ("-15", .integer(-15)), (" 7 ", .integer(7)),
    ("007", .integer(7)),
    ("999999999999999", .integer(999_999_999_999_999)), ("?1", .boolean(true)), ("?0;a;b=2", .boolean(false)),
    ("1.5", .other), ("\"a\\\"b\"", .other), ("token/x:y", .other), (":aGk=:", .other), ("@123", .other),
    ("%\"a\"", .other),
  ])
  func `reads items`(_ text: String, _ item: StructuredField.Item) {
    #expect(StructuredField.item(text) == item)
  }

  @Test(arguments: [
    "", "1000000000000000", "--1", "1.", "1.2345", "?2", "?", "?1 ?1", "1,2", "\"a", "\"é\"", "a b", ":a",
    "1;A", "1;",
    "{", "é", "@1.5", "%x", "-", "12 x",
  ])
  func `ignores what is not an item`(_ text: String) { #expect(StructuredField.item(text) == nil) }

  @Test func `reads the limits that it knows`() {
    #expect(
      UploadLimit(fields: ["max-size=9, min-size=0,max-append-size=5;x=1", "min-append-size=2, max-age=60"])
        == UploadLimit(maxSize: 9, maxAppendSize: 5, minAppendSize: 2, maxAge: 60))
    #expect(UploadLimit(fields: ["expires=60"]) == UploadLimit(maxAge: 60))
    #expect(
      UploadLimit(fields: ["other=(1 2 \"a\");q, flag, more=:aa:, max-size=1"]) == UploadLimit(maxSize: 1))
    #expect(UploadLimit(fields: ["max-size=1, max-size=2"]) == UploadLimit(maxSize: 2))
    #expect(UploadLimit(fields: ["min-size=0"]) == UploadLimit())
    #expect(UploadLimit(fields: []) == nil)
  }

  @Test(arguments: [
    "max-size", "max-size=?1", "max-size=1.5", "max-size=-1", "max-size=\"1\"", "max-size=1,",
    "max-size=1 min-size=2",
    "Max-Size=1", "max-size=1,,a=1", "a=(1", "a=(1\"b\")", "max-size=(1)", "max-size==1",
  ])
  func `ignores limits that are malformed`(_ text: String) { #expect(UploadLimit(fields: [text]) == nil) }

  @Test func `parses a long field in linear time`() {
    let items = (0..<50_000).map { "k\($0)=(1 2 3)" }.joined(separator: ", ")
    #expect(StructuredField.dictionary(items)?.count == 50_000)
    #expect(StructuredField.dictionary(String(repeating: "a=(", count: 80_000)) == nil)
  }
}
