import FerryPlan
import Testing

@testable import FerryEngine

struct ExpiryTests {
  private let now = Instant(nanoseconds: 784_111_777_000_000_000)  // Sun, 06 Nov 1994 08:49:37 GMT

  @Test(arguments: [
    ("120", 120.0), ("0", 0), (" 5 ", 5), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
    ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
    ("99999999999999999999", 9_000_000_000),
  ]) func retryAfterIsSecondsOrADate(_ value: String, _ seconds: Double) {
    #expect(RetryAfter.parse(value, now: now) == .seconds(seconds))
  }

  @Test(arguments: [
    "", "-1", "1.5", "soon", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "5 6",
  ])
  func anythingElseIsIgnored(_ value: String) {
    #expect(RetryAfter.parse(value, now: now) == nil)
  }

  /// The marks of this value are in the worst order for Unicode normalization.
  @Test(arguments: ["", "Sun, 06 Nov 1994 08:50:37 GMT"])
  func aLongRunOfCombiningMarksIsReadInLinearTime(date: String) {
    let marks = String(repeating: "\u{301}", count: 25_000) + String(repeating: "\u{316}", count: 25_000)
    let time = ThreadTime.measure {
      for _ in 0..<10 { #expect(RetryAfter.parse(date + marks, now: now) == nil) }
    }
    #expect(time < .seconds(5), "\(time)")
  }

  @Test(arguments: [
    ("expires_in", "3600", 3600.0), ("expires_in", "1.5", 1.5), ("expires_in", "-4", 0),
    ("expires_at", "784111778", 1), ("expires_at", "1994-11-06T08:49:38Z", 1),
    ("expires_at", "1994-11-06T09:49:37.5+01:00", 0.5), ("expires_at", "1994-11-06T03:19:37-05:30", 0),
  ]) func expiryIsReadFromCaptures(_ name: String, _ value: String, _ seconds: Double) {
    let capture = CapturedValue(name: name, value: value, isSecret: false)
    #expect(ExpiryReader.expiry(of: [capture], now: now) == now.advanced(by: .seconds(fraction: seconds)))
  }

  @Test(arguments: [
    ("expires_in", "nan"), ("expires_in", "0x10"), ("expires_in", ""), ("expires_at", "tomorrow"),
    ("id", "3"),
    ("expires_at", "2026-02-29T00:00:00Z"),
  ]) func anUnreadableExpiryIsIgnored(_ name: String, _ value: String) {
    #expect(
      ExpiryReader.expiry(of: [CapturedValue(name: name, value: value, isSecret: false)], now: now) == nil)
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:50:37 GMT", nil, 60), ("Sun, 06 Nov 1994 08:49:07 GMT", nil, -30),
      // The server's clock is one hour ahead.
      ("Sun, 06 Nov 1994 09:50:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", 60),
      ("Sun, 06 Nov 1994 08:50:37 GMT", "now", 60),
    ] as [(String, String?, Double)])
  func theExpiryOfAnUploadOfTusIsADate(_ value: String, _ date: String?, _ seconds: Double) {
    #expect(
      UploadExpires.parse([value], sentAt: date, now: now) == now.advanced(by: .seconds(fraction: seconds)))
  }

  @Test(arguments: [
    [], [""], ["3600"], ["1994-11-06T08:49:37Z"], ["Sun, 06 Nov 1994 08:50:37 CET"],
    ["Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT"],
  ])
  func aMalformedExpiryOfAnUploadIsIgnored(_ values: [String]) {
    #expect(UploadExpires.parse(values, sentAt: nil, now: now) == nil)
  }

  @Test func anExpiryBeyondTheRangeOfInstantsIsTheLastInstant() {
    let value = "Fri, 31 Dec 9999 23:59:59 GMT"
    #expect(UploadExpires.parse([value], sentAt: value, now: now) == now)
    #expect(UploadExpires.parse([value], sentAt: nil, now: now) == .distantFuture)
  }

  @Test func theEarlierExpiryCounts() {
    let captures = [("expires_in", "60"), ("expires_at", "784111787")].map {
      CapturedValue(name: $0.0, value: $0.1, isSecret: false)
    }
    #expect(ExpiryReader.expiry(of: captures, now: now) == now.advanced(by: .seconds(10)))
  }
}
