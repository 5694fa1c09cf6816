import FerryPlan

/// Determines when the values of a response expire, from the captures `expires_in` and `expires_at`.
package enum ExpiryReader {
  /// `expires_in` is in seconds from `now`; `expires_at` is in RFC 3339 format or in seconds since 1970.
  /// Both may have a fraction. If both are present, the earlier one applies. A value that cannot be parsed
  /// is ignored.
  package static func expiry(of captures: [CapturedValue], now: Instant) -> Instant? {
    var expiry: Instant?
    for capture in captures {
      let found: Instant?
      switch capture.name {
      case "expires_in":
        found = seconds(capture.value).map { now.advanced(by: max(.zero, $0)) }
      case "expires_at":
        found =
          seconds(capture.value).map { Instant(nanoseconds: 0).advanced(by: $0) }
          ?? Instant(rfc3339: capture.value)
      default: found = nil
      }
      if let found { expiry = min(expiry ?? found, found) }
    }
    return expiry
  }

  private static func seconds(_ text: String) -> Duration? {
    // Double would also parse "nan", "inf" and hexadecimal numbers.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else {
      return nil
    }
    if let whole = Int64(text) { return .seconds(min(max(whole, -9_000_000_000), 9_000_000_000)) }
    return Double(text).map { .seconds(fraction: $0) }
  }
}
