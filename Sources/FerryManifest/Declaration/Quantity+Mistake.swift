/// The message for a string that is not a quantity, in a manifest and on the command line.
extension Quantity {
  struct Mistake {
    var code: DiagnosticCode
    /// The text after the subject, for example "needs a unit".
    var predicate: String
    var help: String
  }

  /// Describes a problem with a written quantity and how to correct it.
  ///
  /// - Parameters:
  ///   - isFromOutside: whether the text must not be repeated.
  ///   - wanted: a description of valid values, for example "a duration such as 30s".
  ///   - found: ", found 'x'", or an empty string.
  ///   - largest: the largest allowed quantity, with its unit.
  static func mistake(
    _ problem: Problem, in text: String, isFromOutside: Bool, wanted: String, found: String,
    units: [(name: String, size: Int64)], largest: String
  ) -> Mistake {
    let names = units.map(\.name)
    let meant = isFromOutside ? nil : meant(by: text, units: units)
    return switch problem {
    case .bare:
      Mistake(
        code: .missingUnit, predicate: "needs a unit",
        // The list of rewritten values would repeat a long number for each unit.
        help: isFromOutside || text.utf8.count > 20
          ? "the units are \(names.alternatives(quoted: false))"
          : "write one of \(names.map { text.clipped + $0 }.alternatives(quoted: false))")
    case .fraction:
      Mistake(
        code: .fraction, predicate: "must be a whole number and a unit",
        help: meant.map { "write \($0.quoted)" }
          ?? "use a smaller unit: \(names.alternatives(quoted: false))")
    case .unit(let unit):
      Mistake(
        code: .unknownUnit,
        predicate: "has \(isFromOutside ? "an unknown unit" : "the unknown unit \(unit.quoted)")",
        help: meant.map { "did you mean \($0.quoted)?" }
          ?? "the units are \(names.alternatives(quoted: false))")
    case .overflow:
      Mistake(code: .outOfRange, predicate: "is too large", help: "the largest is \(largest)")
    case .malformed:
      Mistake(
        code: .malformedQuantity, predicate: "must be \(wanted)\(found)",
        help: meant.map { "write \($0.quoted)" }
          ?? "write one number followed by one unit: \(names.alternatives(quoted: false))")
    }
  }
}
