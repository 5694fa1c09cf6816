import FerryJournal
import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct ValidatorTests {
  private func response(_ fields: (String, String)..., status: Int = 200) -> TransferResponse {
    TransferResponse(
      status: status, headers: fields.map { (name: $0.0, value: $0.1) }, body: [], url: "http://h/")
  }

  /// RFC 9110 §8.8.3.
  @Test(arguments: [
    #""abc""#, #"W/"abc""#, #""""#, #"W/"""#, #""!#~""#, "\"\(String(repeating: "a", count: 1022))\"",
  ])
  func anEntityTagIsStored(_ tag: String) {
    #expect(Validator.entityTag(of: response(("etag", tag))) == tag)
  }

  @Test(arguments: [
    "", "*", "abc", "\"abc", "abc\"", "\"", "w/\"abc\"", "W/abc", "\"a\u{1}b\"", "\"a\u{7f}b\"", "\"a b\"",
    "\"a\tb\"", "\"a\"b\"", "\"a\", \"b\"", "\"aöb\"", "\"a\u{FFFD}b\"", "\"a\r\nX: y\"",
    "\"\(String(repeating: "a", count: 1023))\"",
  ]) func anInvalidEntityTagIsNotStored(_ tag: String) {
    #expect(Validator.entityTag(of: response(("ETag", tag))) == nil)
  }

  @Test func severalEntityTagsAreStoredOnlyIfTheyAgree() {
    #expect(Validator.entityTag(of: response(("ETag", "\"1\""), ("etag", "\"2\""))) == nil)
    #expect(Validator.entityTag(of: response(("ETag", "\"1\""), ("etag", "\"1\""))) == "\"1\"")
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("yesterday", false),
    ("Sun, 06 Nov 1994\u{7} 08:49:37 GMT", false),
    ("Sunday, 06-Nov-94 08:49:37 GMT", false), ("", false), ("1", false),
  ]) func onlyADateIsStored(_ date: String, _ isKept: Bool) {
    #expect(Validator.lastModified(of: response(("Last-Modified", date)), at: now) == (isKept ? date : nil))
  }

  /// 2026-11-22 12:00:00 UTC.
  private var now: Instant { Instant(nanoseconds: 1_795_348_800 * 1_000_000_000) }

  @Test(
    arguments: [
      ("Sun, 22 Nov 2026 12:00:00 GMT", nil, true), ("Mon, 23 Nov 2026 11:59:59 GMT", nil, false),
      ("Fri, 31 Dec 9999 23:59:59 GMT", nil, false),
      ("Sun, 22 Nov 2026 12:00:00 GMT", "Sun, 22 Nov 2026 12:00:00 GMT", true),
      ("Sun, 22 Nov 2026 12:00:01 GMT", "Sun, 22 Nov 2026 12:00:00 GMT", false),
      // The server's clock may be wrong, but not by centuries.
      ("Sun, 22 Nov 2026 18:00:00 GMT", "Sun, 22 Nov 2026 18:00:00 GMT", true),
      ("Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", false),
    ] as [(String, String?, Bool)])
  func aDateAfterTheResponseIsNotStored(_ date: String, _ sent: String?, _ isKept: Bool) {
    let fields = [("Last-Modified", date)] + (sent.map { [("Date", $0)] } ?? [])
    let answer = TransferResponse(
      status: 200, headers: fields.map { (name: $0.0, value: $0.1) }, body: [], url: "http://h/")
    #expect(Validator.lastModified(of: answer, at: now) == (isKept ? date : nil))
  }

  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func condition(
    _ etag: String?, _ lastModified: String? = nil, method: String = "GET", header: String? = nil
  ) -> FetchCondition {
    let request = TransferRequest(
      id: 1, method: method, url: "http://h/", headers: header.map { [.init(name: $0, value: "\"x\"")] } ?? []
    )
    return FetchCondition(
      request, FetchRecord(etag: etag, lastModified: lastModified, fetchedAt: Instant(nanoseconds: 0)))
  }

  @Test func theEntityTagHasPrecedenceOverTheDate() {
    #expect(condition("\"1\"", Self.date).header == .init(name: "If-None-Match", value: "\"1\""))
    #expect(condition(nil, Self.date).header == .init(name: "If-Modified-Since", value: Self.date))
  }

  @Test func anUnsendableValidatorOfAnOlderVersionIsIgnored() {
    #expect(condition("\"a\u{1}\"", Self.date).header == .init(name: "If-Modified-Since", value: Self.date))
    #expect(condition("abc", "yester\u{7}day").header == nil)
    #expect(condition("*").header == nil)
  }

  @Test(arguments: ["POST", "HEAD", "PUT"]) func onlyAGetIsConditional(_ method: String) {
    #expect(condition("\"1\"", Self.date, method: method).header == nil)
  }

  @Test(arguments: ["If-None-Match", "if-modified-since", "If-Match", "If-Unmodified-Since", "If-Range"])
  func noConditionIsAddedIfTheManifestHasOne(_ header: String) {
    let own = condition("\"1\"", header: header)
    #expect(own.header == nil)
    #expect(own.seen(in: response(("ETag", "\"2\""), status: 304)) == .written)
  }

  @Test func aRangeIsNoCondition() {
    #expect(condition("\"1\"", header: "Range").header == .init(name: "If-None-Match", value: "\"1\""))
  }

  /// The weak comparison of RFC 9110 §8.8.3.2.
  @Test(arguments: [
    ("\"1\"", "\"1\"", true), ("W/\"1\"", "\"1\"", true), ("\"1\"", "W/\"1\"", true),
    ("\"1\"", "\"2\"", false),
    ("\"1\"", "1", false),
  ]) func aNotModifiedThatNamesAnotherVersionIsForAnother(_ sent: String, _ named: String, _ isNamed: Bool) {
    let seen = condition(sent).seen(in: response(("ETag", named), status: 304))
    #expect(seen == .recorded(isNamed: isNamed))
    #expect(condition(sent).seen(in: response(status: 304)) == .recorded(isNamed: true))
  }

  @Test func aNotModifiedOfAnotherDateIsForAnotherVersion() {
    func seen(_ date: String) -> AttemptResult.Condition {
      condition(nil, Self.date).seen(in: response(("Last-Modified", date), status: 304))
    }
    #expect(seen(Self.date) == .recorded(isNamed: true))
    #expect(seen("Mon, 07 Nov 1994 08:49:37 GMT") == .recorded(isNamed: false))
  }
}
