import FerryManifest

/// Invariants of durations and sizes on the command line and in manifests.
enum QuantityInvariants {
  static func violations(by input: [UInt8]) -> [String] {
    let text = input.text
    return duration(text) + size(text)
  }

  private static func duration(_ text: String) -> [String] {
    do throws(QuantityMistake) {
      let duration = try Duration(written: text)
      let (seconds, rest) = duration.components
      let milliseconds = Int128(seconds) * 1000 + Int128(rest / 1_000_000_000_000_000)
      guard milliseconds == amount(text, units: durations) else { return ["\(text) was read as \(duration)"] }
      guard (.zero ... .seconds(36_500 * 86_400)).contains(duration) else {
        return ["\(duration) is too long"]
      }
      let again = try? Duration(written: "\(milliseconds)ms")
      return again == duration ? [] : ["\(duration) is not read again"]
    } catch {
      return mistake(error, text)
    }
  }

  private static func size(_ text: String) -> [String] {
    do throws(QuantityMistake) {
      let size = try ByteCount(written: text)
      guard Int128(size.bytes) == amount(text, units: sizes) else {
        return ["\(text) was read as \(size.bytes) B"]
      }
      let again = try? ByteCount(written: "\(size.bytes)B")
      return again == size ? [] : ["\(size.bytes) B is not read again"]
    } catch {
      return mistake(error, text)
    }
  }

  private static func mistake(_ mistake: QuantityMistake, _ text: String) -> [String] {
    let words = mistake.description
    var violations = mistake.predicate.isEmpty || mistake.help.isEmpty ? ["there is no remedy"] : []
    if words.unicodeScalars.count > 600 { violations.append("the message has \(words.count) letters") }
    return violations
  }

  /// Parses digits followed by a unit, independently of the code under test; `nil` for any other text.
  private static func amount(_ text: String, units: [String: Int128]) -> Int128? {
    let digits = text.unicodeScalars.prefix { ("0"..."9").contains($0) }
    guard let number = Int128(String(digits)) else { return nil }
    return units[String(text.unicodeScalars.dropFirst(digits.count))].map { number * $0 }
  }

  private static let durations: [String: Int128] = [
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
  ]

  private static let sizes: [String: Int128] = [
    "B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
    "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824, "TiB": 1_099_511_627_776,
  ]
}
