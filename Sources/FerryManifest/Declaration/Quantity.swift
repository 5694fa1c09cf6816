/// A whole number and its unit, as in `30s` or `5MB`.
struct Quantity {
  enum Problem: Error, Equatable {
    /// A number without a unit.
    case bare
    /// The text contains no number, or more than one.
    case malformed
    case fraction
    case unit(String)
    case overflow
  }

  /// The value in the smallest unit: milliseconds or bytes.
  let amount: Int64

  init(_ text: String, units: [(name: String, size: Int64)]) throws(Problem) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard !digits.isEmpty else { throw .malformed }
    guard !unit.isEmpty else { throw .bare }
    if let first = unit.first, first == "." || first == "," { throw .fraction }
    guard unit.allSatisfy(\.isLetter) else { throw .malformed }
    guard let size = units.first(where: { $0.name == unit })?.size else { throw .unit(String(unit)) }
    guard let number = Int64(digits) else { throw .overflow }
    let (amount, overflows) = number.multipliedReportingOverflow(by: size)
    guard !overflows else { throw .overflow }
    self.amount = amount
  }

  /// Units in milliseconds.
  static let durations: [(name: String, size: Int64)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
  ]

  /// Units in bytes: powers of 1000, or of 1024 for units with an `i`.
  static let sizes: [(name: String, size: Int64)] = [
    ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]

  /// The amount in the largest unit that divides it.
  static func text(_ amount: Int64, units: [(name: String, size: Int64)]) -> String {
    let fitting = units.filter { amount >= $0.size && amount % $0.size == 0 }
    guard let unit = fitting.max(by: { $0.size < $1.size }) ?? units.first else { return String(amount) }
    return "\(amount / unit.size)\(unit.name)"
  }
}
