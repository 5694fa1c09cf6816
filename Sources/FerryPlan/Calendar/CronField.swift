/// One of the five fields of a cron expression: the set of matching numbers.
struct CronField: Hashable, Sendable {
  /// Bit `n` represents the number `n`.
  private var bits: UInt64 = 0
  /// Whether the field begins with `*`, as `*` and `*/15` do. crontab(5) does not treat such a field as
  /// restricted.
  var isWildcard = false

  func contains(_ number: Int) -> Bool { bits & (1 << UInt64(number)) != 0 }

  /// The first matching number that is greater than or equal to `number`.
  func first(from number: Int) -> Int? {
    let rest = number < 64 ? bits & (.max << UInt64(number)) : 0
    return rest == 0 ? nil : rest.trailingZeroBitCount
  }

  mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }

  enum Kind: CaseIterable {
    case minute
    case hour
    case dayOfMonth
    case month
    case dayOfWeek

    var name: String {
      switch self {
      case .minute: "minute"
      case .hour: "hour"
      case .dayOfMonth: "day of the month"
      case .month: "month"
      case .dayOfWeek: "day of the week"
      }
    }

    var numbers: ClosedRange<Int> {
      switch self {
      case .minute: 0...59
      case .hour: 0...23
      case .dayOfMonth: 1...31
      case .month: 1...12
      // Sunday is both 0 and 7.
      case .dayOfWeek: 0...7
      }
    }

    /// The names of the numbers, in order, starting with the first number.
    var words: [String] {
      switch self {
      case .minute, .hour, .dayOfMonth: []
      case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
      case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
      }
    }

    /// The numbers and words that the field allows, as text.
    var wanted: String {
      let span = "\(numbers.lowerBound) to \(numbers.upperBound)"
      guard let first = words.first, let last = words.last else { return span }
      switch self {
      case .minute, .hour, .dayOfMonth, .month: return "\(span), or \(first) to \(last)"
      case .dayOfWeek: return "\(span) (0 and 7 are Sunday), or \(first) to \(last)"
      }
    }

    /// The allowed forms of the field.
    var forms: String {
      "write `*`, `*/2`, a number (\(wanted)), a range such as `1-5`, or a list such as `1,3`"
    }
  }
}
