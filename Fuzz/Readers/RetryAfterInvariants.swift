import FerryPlan
import FerryTransfer
import Foundation

@testable import FerryEngine

/// Invariants of times from servers: `Retry-After`, HTTP dates, and the expiry of tokens.
enum RetryAfterInvariants {
  private static let now = Instant(nanoseconds: 1_774_000_000_000_000_000)

  static func violations(by input: [UInt8]) -> [String] {
    let text = input.text
    return retryAfter(text) + date(text) + expiry(text)
  }

  private static func retryAfter(_ text: String) -> [String] {
    guard let wait = RetryAfter.parse(text, now: now) else { return [] }
    var violations: [String] = []
    if wait < .zero { violations.append("a wait of \(wait)") }
    if now.advanced(by: wait) < now { violations.append("a wait that ends before it begins") }
    let digits = text.filter { $0 != " " && $0 != "\t" }
    if let seconds = Int64(digits), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      seconds < 9_000_000_000,
      wait != .seconds(seconds)
    {
      violations.append("\(seconds) seconds are \(wait)")
    }
    return violations
  }

  /// Compares an HTTP date with the C library's result.
  private static func date(_ text: String) -> [String] {
    guard let instant = HTTPDate.instant(text) else { return [] }
    // The name of the weekday is not checked.
    let words = text.split(separator: " ").dropFirst().flatMap { $0.split(separator: ":") }
    guard words.count == 7, let day = Int32(words[0]), let year = Int32(words[2]), let hour = Int32(words[3]),
      let minute = Int32(words[4]), let second = Int32(words[5]),
      let month = months.firstIndex(of: String(words[1]))
    else { return ["\(text) is taken for a date"] }
    var time = tm()
    (time.tm_year, time.tm_mon, time.tm_mday) = (year - 1900, Int32(month), day)
    (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
    let seconds = timegm(&time)
    // timegm(3) converts a day that does not exist to one of the next month.
    if second < 60, time.tm_mday != day { return ["\(text) is no day"] }
    return Instant(wholeSeconds: seconds) == instant
      ? [] : ["\(text) is \(instant.rfc3339), and \(seconds) in C"]
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func expiry(_ text: String) -> [String] {
    var violations: [String] = []
    for name in ["expires_in", "expires_at"] {
      let capture = CapturedValue(name: name, value: text, isSecret: false)
      guard let expiry = ExpiryReader.expiry(of: [capture], now: now) else { continue }
      // The scheduler computes with the expiry.
      let life = now.duration(to: expiry)
      if name == "expires_in", life < .zero { violations.append("a life of \(life)") }
      if expiry.advanced(by: .seconds(-3600)) > expiry { violations.append("a margin that goes forwards") }
      violations += MomentInvariants.windows(expiry, in: .utc)
    }
    return violations
  }
}
