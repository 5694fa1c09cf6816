import FerryPlan

/// The time for which a stored response may be used without a request (RFC 9111, section 4.2), for a cache that is not
/// shared. Without `max-age` or `Expires`, a response is not fresh: ferry does not guess a lifetime from
/// `Last-Modified`.
package enum Freshness {
  /// The longest lifetime. A server cannot prevent a fetch for longer.
  static let limit = Duration.seconds(365 * 86_400)

  /// The remaining lifetime of a response when it arrives; zero if it must be validated before each use.
  ///
  /// - Parameter now: when the response arrived.
  package static func lifetime(of answer: TransferResponse, at now: Instant) -> Duration {
    // A response with `Vary: *` is never reused (RFC 9111, section 4.1).
    guard !values("Vary", of: answer).contains(where: { $0.utf8.contains(UInt8(ascii: "*")) }) else {
      return .zero
    }
    let directives = values("Cache-Control", of: answer).flatMap(directives)
    guard !directives.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) else {
      return .zero
    }
    let ages = directives.filter { $0.name == "max-age" }
    let stated: Duration
    if ages.isEmpty {
      stated = expiry(of: answer, at: now)
    } else {
      // Contradictory or invalid lifetimes are treated as short ones (section 4.2.1).
      stated = ages.map { seconds($0.value) ?? .zero }.min() ?? .zero
    }
    return max(.zero, min(stated, limit) - age(of: answer, at: now))
  }

  /// How long ago the server generated the response (section 4.2.3). A cache on the path that does not send `Age` is
  /// recognized by an old `Date`. If only the clocks differ, the response is validated earlier.
  private static func age(of answer: TransferResponse, at now: Instant) -> Duration {
    let stated = values("Age", of: answer).compactMap { seconds($0) }.max() ?? .zero
    return max(stated, date(of: answer, at: now).duration(to: now))
  }

  /// The time between `Date` and `Expires` (section 5.3). An invalid date, such as `0`, is in the past.
  private static func expiry(of answer: TransferResponse, at now: Instant) -> Duration {
    let fields = values("Expires", of: answer)
    guard fields.count == 1, let expires = HTTPDate.instant(fields[0]) else { return .zero }
    let date = date(of: answer, at: now)
    return expires <= date ? .zero : date.duration(to: expires)
  }

  /// When the server generated the response; without a valid `Date`, when it arrived (RFC 9110, section 6.6.1).
  private static func date(of answer: TransferResponse, at now: Instant) -> Instant {
    values("Date", of: answer).first.flatMap { HTTPDate.instant($0) } ?? now
  }

  /// Delta-seconds (section 1.2.2): digits only. A number that is too large counts as the longest lifetime.
  private static func seconds(_ text: String) -> Duration? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int64(text).flatMap { $0 <= 365 * 86_400 ? .seconds($0) : nil } ?? limit
  }

  /// The directives of `Cache-Control`, with names in lowercase. A comma inside quotes does not end a directive.
  private static func directives(_ field: String) -> [(name: String, value: String)] {
    var parts: [[UInt8]] = [[]]
    var isQuoted = false
    for byte in field.utf8 {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted {
        parts.append([])
      } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != UInt8(ascii: "\"") {
        parts[parts.count - 1].append(byte)
      }
    }
    return parts.map { part in
      let name = part.prefix { $0 != UInt8(ascii: "=") }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      let value = part.drop { $0 != UInt8(ascii: "=") }.dropFirst()
      return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
  }

  private static func values(_ name: String, of answer: TransferResponse) -> [String] {
    answer.headers.filter { $0.name.isField(named: name) }.map(\.value)
  }
}
