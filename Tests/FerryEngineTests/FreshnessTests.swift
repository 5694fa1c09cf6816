import FerryPlan
import Testing

@testable import FerryTransfer

/// The lifetime of stored responses (RFC 9111, section 4.2).
struct FreshnessTests {
  private static let date = "Thu, 01 Jan 2026 00:00:00 GMT"
  private let now = HTTPDate.instant(Self.date) ?? Instant(nanoseconds: 0)

  private func seconds(_ fields: [(String, String)]) -> Double {
    let response = TransferResponse(
      status: 200, headers: fields.map { (name: $0.0, value: $0.1) }, body: [], url: "http://h/f")
    return Freshness.lifetime(of: response, at: now).seconds
  }

  @Test(
    arguments: [
      ([("Cache-Control", "max-age=60")], 60), ([("cache-control", "public, MAX-AGE=\"60\"")], 60),
      ([("Cache-Control", "max-age=60"), ("Age", "20")], 40),
      ([("Cache-Control", "max-age=60"), ("Age", "70")], 0),
      ([("Cache-Control", "max-age=60"), ("Age", "0"), ("Age", "20")], 40),
      ([("Cache-Control", "max-age=60"), ("Date", "Wed, 31 Dec 2025 23:59:30 GMT")], 30),
      ([("Cache-Control", "max-age=60"), ("Date", "Wed, 31 Dec 2025 23:59:30 GMT"), ("Age", "40")], 20),
      ([("Cache-Control", "max-age=60"), ("Date", "Wednesday, 31-Dec-25 23:59:30 GMT")], 30),
      ([("Cache-Control", "max-age=60"), ("Date", "Wed Dec 31 23:59:30 2025")], 30),
      ([("Cache-Control", "max-age=60"), ("Date", "Fri Jan  3 23:59:30 2025")], 0),
      ([("Cache-Control", "max-age=60"), ("Date", "Sunday, 06-Nov-94 08:49:37 GMT")], 0),
      ([("Cache-Control", "max-age=60"), ("Date", "Sunday, 06-Nov-2025 08:49:37 GMT")], 60),
      ([("Cache-Control", "max-age=60"), ("Date", "Thu, 01 Jan 2026 01:00:00 GMT")], 60),
      ([("Expires", "Thu, 01 Jan 1970 00:00:01 GMT"), ("Date", "Mon, 01 Jan 0001 00:00:00 GMT")], 0),
      ([("Cache-Control", "max-age=60, no-cache")], 0),
      ([("Cache-Control", "no-store"), ("Expires", "x")], 0),
      ([("Cache-Control", "no-cache=\"a, b\", max-age=60")], 0), ([("Cache-Control", "max-age=-1")], 0),
      ([("Cache-Control", "max-age=60"), ("Cache-Control", "max-age=5")], 5),
      ([("Cache-Control", "max-age=")], 0),
      ([("Cache-Control", "max-age=60"), ("Vary", "Accept, *")], 0), ([("Cache-Control", "s-maxage=60")], 0),
      ([("Expires", "Thu, 01 Jan 2026 00:01:00 GMT"), ("Date", date)], 60), ([("Expires", "0")], 0),
      ([("Expires", "Thu, 01 Jan 2026 00:01:00 GMT"), ("Cache-Control", "max-age=5")], 5),
      ([("Expires", "Wed, 31 Dec 2025 00:00:00 GMT")], 0), ([("Last-Modified", date)], 0), ([], 0),
      ([("Cache-Control", "max-age=99999999999999999999")], 31_536_000),
      ([("Cache-Control", ",,=,\"")], 0),
    ] as [([(String, String)], Double)])
  func aLifetimeIsStatedByTheServer(fields: [(String, String)], lifetime: Double) {
    #expect(seconds(fields) == lifetime)
  }
}
