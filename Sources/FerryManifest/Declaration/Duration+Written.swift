extension Quantity {
  static let wantedDuration = "a duration such as 30s"
  static let largestDuration = "a century, 36500d"

  /// Parses a duration of at most a century, which every clock can represent.
  static func duration(_ text: String) throws(Problem) -> Duration {
    let milliseconds = try Quantity(text, units: durations).amount
    guard milliseconds <= 100 * 365 * 86_400_000 else { throw .overflow }
    return .milliseconds(milliseconds)
  }
}

extension Duration {
  /// The units of a duration as a string, for example `ms, s, …`.
  package static var writtenUnits: String { Quantity.durations.map(\.name).alternatives(quoted: false) }

  /// Parses a duration in the manifest's notation, such as `30s`; at most a century.
  package init(written text: String) throws(QuantityMistake) {
    do {
      self = try Quantity.duration(text)
    } catch {
      let mistake = Quantity.mistake(
        error, in: text, isFromOutside: false, wanted: Quantity.wantedDuration, found: "",
        units: Quantity.durations,
        largest: Quantity.largestDuration)
      throw QuantityMistake(predicate: mistake.predicate, help: mistake.help)
    }
  }
}

/// The reason why a string is not a duration or size, as a message.
package struct QuantityMistake: Error, Equatable, CustomStringConvertible {
  /// The text after the subject, for example "needs a unit".
  package var predicate: String
  package var help: String

  package init(predicate: String, help: String) {
    self.predicate = predicate
    self.help = help
  }

  package var description: String { "it \(predicate)\nhelp: \(help)" }
}
