import FerryPlan
import Testing

/// Requests and responses of upload sessions, copied from the documentation of the servers.
@Suite struct `A response of an upload session` {
  private static let google = ContentRange(chunkSize: 524_288, form: .bytes, offsetQuery: .put)
  private static let graph = ContentRange(chunkSize: 26, form: .bytes, offsetQuery: .get)
  private static let registry = ContentRange(chunkSize: 100, form: .bare, offsetQuery: .get)

  struct Row: Sendable {
    var name: String
    var machine: ContentRange
    var operation: TransferOperation
    var size: Int64
    var response: StatedResponse
    var reading: TransferReading
  }

  static let rows: [Row] = [
    // Google: "Upload in multiple chunks" and "Resume an interrupted upload".
    Row(
      name: "a part of a file in Google Drive", machine: google, operation: .send(0..<524_288),
      size: 2_000_000,
      response: StatedResponse(status: 308, ranges: ["bytes=0-524287"]), reading: .offset(524_288)),
    Row(
      name: "the status of a session at Google", machine: google, operation: .queryOffset, size: 2_000_000,
      response: StatedResponse(status: 308, ranges: ["bytes=0-42"]), reading: .offset(43)),
    Row(
      name: "a session at Google that has stored nothing", machine: google, operation: .queryOffset,
      size: 2_000_000, response: StatedResponse(status: 308), reading: .offset(0)),
    Row(
      name: "a Range without a unit", machine: google, operation: .queryOffset, size: 2_000_000,
      response: StatedResponse(status: 308, ranges: ["0-42"]), reading: .offset(43)),
    Row(
      name: "a session at Google with one byte", machine: google, operation: .queryOffset, size: 2_000_000,
      response: StatedResponse(status: 308, ranges: ["bytes=0-0"]), reading: .offset(1)),
    Row(
      name: "the last part of a file in Google Drive", machine: google, operation: .send(524_288..<600_000),
      size: 600_000, response: StatedResponse(status: 201), reading: .other),
    Row(
      name: "the status of a session at Google that is complete", machine: google, operation: .queryOffset,
      size: 600_000, response: StatedResponse(status: 200), reading: .other),
    Row(
      name: "a session at Google that has expired", machine: google, operation: .queryOffset, size: 600_000,
      response: StatedResponse(status: 404), reading: .other),
    // Microsoft Graph: "Upload bytes to the upload session" and "Resuming an in-progress upload".
    Row(
      name: "a part of a file in OneDrive", machine: graph, operation: .send(0..<26), size: 128,
      response: StatedResponse(status: 202, expected: .listed(["26-"])), reading: .offset(26)),
    Row(
      name: "missing ranges in OneDrive", machine: graph, operation: .queryOffset, size: 100_000,
      response: StatedResponse(status: 200, expected: .listed(["12345-55232", "77829-99375"])),
      reading: .offset(12_345)),
    Row(
      name: "missing ranges in another order", machine: graph, operation: .queryOffset, size: 100_000,
      response: StatedResponse(status: 200, expected: .listed(["77829-", "12345-55232"])),
      reading: .offset(12_345)),
    Row(
      name: "an attachment in Outlook", machine: graph, operation: .send(0..<26), size: 128,
      response: StatedResponse(status: 200, expected: .listed(["26"])), reading: .offset(26)),
    Row(
      name: "a session in OneDrive without bytes", machine: graph, operation: .queryOffset, size: 128,
      response: StatedResponse(status: 200, expected: .listed(["0-"])), reading: .offset(0)),
    Row(
      name: "the last part of a file in OneDrive", machine: graph, operation: .send(104..<128), size: 128,
      response: StatedResponse(status: 201), reading: .other),
    Row(
      name: "a session that misses nothing", machine: graph, operation: .queryOffset, size: 128,
      response: StatedResponse(status: 200, expected: .listed([])), reading: .other),
    Row(
      name: "a last part that has to be sent again", machine: graph, operation: .send(104..<128), size: 128,
      response: StatedResponse(status: 202, expected: .listed(["110-"])), reading: .offset(110)),
    // OCI: "Pushing a blob in chunks".
    Row(
      name: "a chunk in a registry", machine: registry, operation: .send(0..<100), size: 250,
      response: StatedResponse(status: 202, ranges: ["0-99"]), reading: .offset(100)),
    Row(
      name: "the last chunk in a registry", machine: registry, operation: .send(200..<250), size: 250,
      response: StatedResponse(status: 202, ranges: ["0-249"]), reading: .other),
    Row(
      name: "a chunk in a registry of version 1.0", machine: registry, operation: .send(0..<100), size: 250,
      response: StatedResponse(status: 202), reading: .offset(100)),
    Row(
      name: "the last chunk in a registry of version 1.0", machine: registry, operation: .send(200..<250),
      size: 250, response: StatedResponse(status: 202), reading: .other),
    Row(
      name: "the status of an upload in a registry", machine: registry, operation: .queryOffset, size: 250,
      response: StatedResponse(status: 204, ranges: ["0-99"]), reading: .offset(100)),
    Row(
      name: "an upload in a registry without bytes", machine: registry, operation: .queryOffset, size: 250,
      response: StatedResponse(status: 204, ranges: ["0-0"]), reading: .offset(0)),
    Row(
      name: "an upload without bytes in another registry", machine: registry, operation: .queryOffset,
      size: 250, response: StatedResponse(status: 204, ranges: ["0--1"]), reading: .offset(0)),
    Row(
      name: "a chunk of one byte in a registry", machine: registry, operation: .send(0..<1), size: 250,
      response: StatedResponse(status: 202, ranges: ["0-0"]), reading: .offset(1)),
    Row(
      name: "an empty blob", machine: registry, operation: .send(0..<0), size: 0,
      response: StatedResponse(status: 202, ranges: ["0-0"]), reading: .other),
    Row(
      name: "a chunk that a registry refuses", machine: registry, operation: .send(0..<100), size: 250,
      response: StatedResponse(status: 416, ranges: ["0-49"]), reading: .offset(50)),
    Row(
      name: "a first byte that a registry has", machine: registry, operation: .send(0..<100), size: 250,
      response: StatedResponse(status: 416, ranges: ["0-0"]), reading: .offset(1)),
    Row(
      name: "a refusal with more bytes than were sent", machine: registry, operation: .send(0..<100),
      size: 250,
      response: StatedResponse(status: 416, ranges: ["0-199"]), reading: .refused),
    // Other responses are judged in the same way for every protocol.
    Row(
      name: "a redirect in a registry", machine: registry, operation: .send(0..<100), size: 250,
      response: StatedResponse(status: 308, ranges: ["0-99"]), reading: .other),
    Row(
      name: "a server fault", machine: google, operation: .send(0..<524_288), size: 2_000_000,
      response: StatedResponse(status: 503, ranges: ["bytes=0-1"]), reading: .other),
  ]

  @Test(arguments: rows)
  func `states an offset, or is judged like any other`(_ row: Row) {
    #expect(row.machine.read(row.response, to: row.operation, size: row.size) == row.reading, "\(row.name)")
  }

  @Test(arguments: [
    "bytes=5-10", "bytes=0-4,6-9", "bytes=-5", "bytes=0-", "bytes=0--1", "bytes=0-9223372036854775807",
    "bytes=0-99999999999999999999", "bytes=0-1e3", "bytes=0-+5", "bytes=a-b", "items=0-5", "", "bytes=", "-",
    "bytes=0-1-2", "bytes=0 - 1", "bytes=0-\u{0661}",
  ])
  func `fails with a malformed Range`(_ field: String) {
    for machine in [Self.google, Self.registry] {
      let status = machine.form == .bytes ? 308 : 204
      guard
        case .malformed(let message) = machine.read(
          StatedResponse(status: status, ranges: [field]), to: .queryOffset, size: 250)
      else {
        // A registry reports `0--1` for an empty upload.
        #expect(field == "bytes=0--1" && machine.form == .bare, "\(field)")
        continue
      }
      #expect(!field.contains("=") || !message.contains(field), "the message does not repeat the response")
    }
  }

  @Test func `fails with several Range fields`() {
    #expect(
      Self.google.read(
        StatedResponse(status: 308, ranges: ["bytes=0-1", "bytes=0-2"]), to: .queryOffset, size: 9)
        == .malformed("the response states several ranges, but parts are sent in order"))
    #expect(
      Self.google.read(
        StatedResponse(status: 308, ranges: ["bytes=0-1", "bytes=0-1"]), to: .queryOffset, size: 9)
        == .offset(2))
  }

  @Test(arguments: [
    StringArray.malformed, .tooLarge, .listed(["x-"]), .listed(["-5"]), .listed([""]),
    .listed(["0-", "5-1"]), .listed(["99999999999999999999-"]), .listed(["1-2-3"]),
  ])
  func `fails with malformed JSON`(_ expected: StringArray) {
    guard
      case .malformed = Self.graph.read(
        StatedResponse(status: 200, expected: expected), to: .queryOffset, size: 128)
    else {
      Issue.record("\(expected)")
      return
    }
  }

  @Test func `to the last part may be any document`() {
    for expected in [StringArray.malformed, .tooLarge, .absent] {
      #expect(
        Self.graph.read(StatedResponse(status: 201, expected: expected), to: .send(104..<128), size: 128)
          == .other)
    }
  }

  @Test func `to a query must state an offset`() {
    for machine in [Self.graph, Self.registry] {
      guard
        case .malformed(let message) = machine.read(StatedResponse(status: 200), to: .queryOffset, size: 128)
      else {
        Issue.record("\(machine)")
        continue
      }
      #expect(message.contains("contains no offset"))
    }
  }

  private func field(_ machine: ContentRange, _ operation: TransferOperation, _ size: Int64) -> String? {
    machine.request(for: operation, size: size).fields.first { $0.name == "Content-Range" }?.value
  }

  @Test func `follows a request that states its position`() {
    #expect(field(Self.google, .send(0..<524_288), 2_000_000) == "bytes 0-524287/2000000")
    #expect(field(Self.google, .send(0..<0), 0) == "bytes */0")
    #expect(field(Self.google, .queryOffset, 2_000_000) == "bytes */2000000")
    #expect(field(Self.google, .whole, 2) == nil)
    #expect(field(Self.graph, .queryOffset, 128) == nil)
    #expect(field(Self.registry, .send(100..<200), 250) == "100-199")
    #expect(field(Self.registry, .send(0..<0), 0) == nil)
  }
}
