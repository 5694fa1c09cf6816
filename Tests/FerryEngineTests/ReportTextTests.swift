import FerryReport
import Foundation
import Testing

@testable import FerryPlan

/// The summary of a run.
struct ReportTextTests {
  private func item(
    _ path: String, _ state: ReportState = .failed,
    _ message: String = "the server responded with 400 to PUT",
    detail: FailureDetail? = nil
  ) throws -> RunRecord.ItemRecord {
    let reason = RecordedFailure(code: .httpStatus, status: 400, message: message, detail: detail)
    return RunRecord.ItemRecord(
      node: "photos", path: path.utf8, size: 1, state: state, reason: reason, attempts: [])
  }

  private func record(_ items: [RunRecord.ItemRecord]) -> RunRecord {
    let manifest = RunRecord.Manifest(name: "m", path: "m.yaml", sha256: "", round: 1, roundClosed: true)
    let run = RunRecord.Run(
      id: "r", manifests: [manifest], launch: .background, startedAt: "", endedAt: "", exitCode: 1,
      state: .ended)
    return RunRecord(run: run, totals: .init(), nodes: [], items: items)
  }

  /// The lines about items.
  private func lines(_ items: [RunRecord.ItemRecord]) throws -> [String] {
    // Encodes and decodes the record, because `ferry report` also reads it from JSON.
    let source = ReportSource(try ReportJSON.decode(ReportJSON.encode(record(items))))
    return try ReportText.text(source, status: "ferry status").split(separator: "\n").dropFirst(2).map(
      String.init)
  }

  private func detail(_ path: String, body: String) -> FailureDetail {
    FailureDetail(method: "PUT", url: "http://h/\(path)", reasonPhrase: "Bad Request", body: body)
  }

  @Test func equalFailuresAreOneLineWithTheirNumberAndAnExample() throws {
    let items = try (0..<300).map { number in
      let path = "a/\(1000 + number).jpg"
      return try item(path, .failed, detail: detail(path, body: "field \"title\" missing"))
    }
    let expected =
      "  photos: 300 × 400 Bad Request, PUT http://h/a/1000.jpg (first: a/1000.jpg): field \"title\" missing"
    #expect(try lines(items) == [expected])
    // The order in which requests ended makes no difference.
    #expect(try lines(items.reversed()) == [expected])
    #expect(try lines(items.shuffled()) == [expected])
  }

  @Test func canceledItemsAreCountedByTheirReasons() throws {
    func node(_ name: String, cancelled: Int, _ reasons: [String: Int]) -> RunRecord.NodeRecord {
      var counts = ItemCounts()
      counts.cancelled = cancelled
      var node = RunRecord.NodeRecord(
        name: name, kind: .upload, session: "s", state: .cancelled, items: counts, attempts: [])
      node.cancellations = reasons.sorted { $0.key < $1.key }.map {
        let failure = RecordedFailure.cancelled(CancelReason(recorded: $0.key))
        return .init(code: failure.code, message: failure.message, items: $0.value)
      }
      return node
    }
    var record = record([])
    // The reasons of some items may be unknown, as in reports of earlier versions.
    record.nodes = [
      node("a", cancelled: 5, ["full": 3, "old": 1]), node("b", cancelled: 2, ["old\u{1B}": 1, "old": 1]),
    ]
    let text = try ReportText.text(ReportSource(record), status: "ferry status")
    #expect(
      text.split(separator: "\n").filter { $0.contains("canceled by ferry cancel") } == [
        "  1 item was canceled by ferry cancel",
        "  3 items were canceled by ferry cancel: full",
        "  2 items were canceled by ferry cancel: old",
        "  1 item was canceled by ferry cancel: old\\033",
      ])
  }

  @Test func reasonsThatDifferInAnIdentifierAreNotJoined() throws {
    let items = try ["ticket-00000001", "ticket-00000002"].map { ticket in
      var item = try item(ticket == "ticket-00000001" ? "a" : "b", .cancelled)
      item.reason = .cancelled(CancelReason(recorded: ticket))
      return item
    }
    #expect(
      try lines(items) == [
        "  photos: a: canceled by ferry cancel: ticket-00000001",
        "  photos: b: canceled by ferry cancel: ticket-00000002",
      ])
  }

  @Test func aSingleFailureIsShownWithItsItem() throws {
    let path = "1.jpg"
    #expect(
      try lines([item(path, .failed, detail: detail(path, body: "no"))])
        == [
          "  photos: 1.jpg: 400 Bad Request, PUT http://h/1.jpg: no"
        ])
  }

  @Test func namesAndIdentifiersDoNotSeparateCauses() throws {
    let items = try ["a/1.jpg", "a/2.jpg", "b \"x\".jpg"].enumerated().map { number, path in
      let body =
        "no \(path.split(separator: "/").last ?? ""), request 6f9619ff-8b86-d011-b42d-00cf4fc964f\(number)"
      return try item(
        path, .failed, "\(DisplayPath.shown(Array(path.utf8))) is refused", detail: detail(path, body: body))
    }
    let lines = try lines(items)
    #expect(
      lines.count == 1
        && lines[0].hasPrefix("  photos: 3 × a/1.jpg is refused, PUT http://h/a/1.jpg (first: a/1.jpg)"))
  }

  @Test func theMessageOfSeveralItemsDoesNotBeginWithThePathOfOne() throws {
    for folder in ["", "/photos/"] {
      let items = try ["x/a.txt", "x/b.txt"].map { path in
        try item(path, .failed, "\(folder)\(path): the disk is full")
      }
      #expect(try lines(items) == ["  photos: 2 × the disk is full (first: x/a.txt)"])
    }
  }

  @Test func differentCausesAreSeparateAndOrderedByNumber() throws {
    let items =
      try (0..<2).map { try item("a\($0)", .failed, detail: detail("a", body: "quota 5 exceeded")) }
      + (0..<3).map { try item("b\($0)", .failed, detail: detail("b", body: "quota 6 exceeded")) }
      + (0..<9).map { try item("c\($0)", .waiting, "the host did not recover") }
      + [item("d", .cancelled, "canceled by ferry cancel")]
    let lines = try lines(items.shuffled())
    #expect(lines.count == 4)
    #expect(lines[0].hasPrefix("  photos: 3 × 400 Bad Request, PUT http://h/b (first: b0)"))
    #expect(lines[1].hasPrefix("  photos: 2 × 400 Bad Request, PUT http://h/a (first: a0)"))
    #expect(lines[2] == "  photos: d: canceled by ferry cancel")
    #expect(lines[3] == "  photos: 9 remaining: the host did not recover (first: c0)")
  }

  @Test func theNumberOfLinesIsBounded() throws {
    // Each cause has a different word that does not look like an identifier.
    let items = try (0..<3000).map { number in
      let word = String(
        String(number).map { Character(UnicodeScalar(UInt8(ascii: "a") + UInt8($0.wholeNumberValue ?? 0))) })
      return try item("f\(number)", .failed, "because of \(word)")
    }
    let lines = try lines(items)
    #expect(lines.count == 21)
    #expect(lines.last == "  … and 2980 more items with other reasons in the report")
  }

  @Test func whatAServerSentCannotControlATerminal() throws {
    let detail = FailureDetail(
      url: "http://h/\u{1B}", reasonPhrase: "\u{9B}1m", body: "\u{1B}]0;x\u{7}\n\u{202E}")
    let text = try lines([item("1", .failed, detail: detail)]).joined()
    #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
  }

  @Test func aProxyIsNamedOnce() throws {
    let detail = FailureDetail(url: "http://h/1", proxy: "proxy:3128")
    #expect(
      try lines([item("1", .failed, "reset", detail: detail)])[0].hasSuffix(
        "reset, http://h/1, through the proxy proxy:3128"))
    #expect(
      try lines([item("1", .failed, "connect to the proxy proxy:3128: refused", detail: detail)])[0]
        .hasSuffix(
          "connect to the proxy proxy:3128: refused, http://h/1"))
  }

  @Test func theReportHasTheDetailsOfAFailure() throws {
    let item = try item(
      "1", .failed, detail: FailureDetail(method: "m", url: "u", proxy: "p", reasonPhrase: "r", body: "b"))
    let json = String(decoding: try ReportJSON.encode(record([item])), as: UTF8.self)
    #expect(
      json.contains(
        #""reason":{"body":"b","code":"http_status","message":"the server responded with 400 to PUT","method":"m","proxy":"p","reason_phrase":"r","status":400,"url":"u"}"#
      ))
  }
}
