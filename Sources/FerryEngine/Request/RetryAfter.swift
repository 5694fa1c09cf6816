import FerryPlan
import FerryTransfer

/// Parses the header field `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// The maximum length of the field value in bytes.
  private static let limit = 128

  /// Accepts seconds or an HTTP date; a past date results in zero. Returns `nil` for any other value.
  package static func parse(_ value: String, now: Instant) -> Duration? {
    guard value.utf8.count <= limit, value.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let text = value.drop { $0 == " " || $0 == "\t" }
    let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
    let rest = text.utf8[digits.endIndex...]
    if !digits.isEmpty, rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
      // Larger numbers are limited to this one, about 285 years.
      return .seconds(min(Int64(String(digits) ?? "") ?? .max, 9_000_000_000))
    }
    return HTTPDate.instant(text).map { max(.zero, now.duration(to: $0)) }
  }
}
