/// Recognizes the notations of quantities in other tools.
extension Quantity {
  /// Converts notations such as `1.5h`, `1h30m`, `5 MB`, `10min` and `5mb` to ferry's notation; nil for any
  /// other text.
  static func meant(by text: String, units: [(name: String, size: Int64)]) -> String? {
    var rest = text.filter { $0 != " " && $0 != "_" }[...]
    guard !rest.isEmpty, rest.utf8.count <= 40 else { return nil }
    var total: Int64 = 0
    var previous = Int64.max
    while !rest.isEmpty {
      let number = rest.prefix { ($0.isASCII && $0.isNumber) || $0 == "." || $0 == "," }
      let word = rest.dropFirst(number.count).prefix(while: \.isLetter)
      rest = rest.dropFirst(number.count + word.count)
      // Larger units must come first, and each unit may occur only once.
      guard let unit = meantUnit(word.lowercased(), units: units), unit < previous,
        let amount = amount(number, times: unit)
      else { return nil }
      let (sum, overflows) = total.addingReportingOverflow(amount)
      guard !overflows else { return nil }
      total = sum
      previous = unit
    }
    return Quantity.text(total, units: units)
  }

  private static func meantUnit(_ word: String, units: [(name: String, size: Int64)]) -> Int64? {
    guard !word.isEmpty else { return nil }
    if let unit = units.first(where: { $0.name.lowercased() == word }) { return unit.size }
    if let unit = units.first(where: { $0.name.lowercased() == word + "b" }) { return unit.size }
    let words = [
      ("milli", "ms"), ("msec", "ms"), ("sec", "s"), ("min", "m"), ("hour", "h"), ("hr", "h"), ("day", "d"),
      ("week", "w"),
    ]
    let known = words.first { word.hasPrefix($0.0) }?.1
    return units.first { $0.name == known }?.size
  }

  /// A decimal fraction of a unit, if it is a whole number of the smallest unit.
  private static func amount(_ number: Substring, times unit: Int64) -> Int64? {
    let parts = number.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
    guard let whole = parts.first.flatMap({ Int64($0) }), parts.count <= 2 else { return nil }
    let digits = parts.count == 2 ? parts[1] : ""
    guard digits.count <= 6, let part = digits.isEmpty ? 0 : Int64(digits) else { return nil }
    let scale = digits.reduce(Int64(1)) { scale, _ in scale * 10 }
    let (scaled, overflows) = part.multipliedReportingOverflow(by: unit)
    let (base, baseOverflows) = whole.multipliedReportingOverflow(by: unit)
    guard !overflows, !baseOverflows, scaled % scale == 0 else { return nil }
    let (sum, sumOverflows) = base.addingReportingOverflow(scaled / scale)
    return sumOverflows ? nil : sum
  }
}
