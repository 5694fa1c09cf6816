/// A condition of `ferry report --diff --fail-on`.
package enum FailCondition: Hashable, Sendable, CustomStringConvertible {
  case newFailures
  /// The time for each request and the time for each byte have both grown by more than this percentage.
  case slower(percent: Double)
  /// The bytes charged to a budget have grown by more than this percentage.
  case budget(percent: Double)

  /// Reads `new-failures`, `slower:20%` or `budget:+10%`.
  package init?(written: String) {
    if written == "new-failures" {
      self = .newFailures
      return
    }
    let parts = written.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasSuffix("%") else { return nil }
    var digits = parts[1].dropLast()
    if digits.hasPrefix("+") { digits.removeFirst() }
    guard let first = digits.utf8.first, (0x30...0x39).contains(first), let percent = Double(digits),
      percent.isFinite
    else { return nil }
    switch parts[0] {
    case "slower": self = .slower(percent: percent)
    case "budget": self = .budget(percent: percent)
    default: return nil
    }
  }

  package var description: String {
    switch self {
    case .newFailures: "new-failures"
    case .slower(let percent): "slower:\(PercentText.text(percent))"
    case .budget(let percent): "budget:\(PercentText.signed(percent))"
    }
  }

  func isMet(by comparison: ReportComparison) -> Bool {
    switch self {
    case .newFailures: return comparison.newFailuresCount > 0
    case .slower(let percent):
      guard let requests = comparison.secondsPerRequestPercent, let bytes = comparison.secondsPerBytePercent
      else { return false }
      return min(requests, bytes) > percent
    case .budget(let percent):
      return comparison.budgets.contains { budget in
        budget.percent.map { $0 > percent } ?? (budget.bytesAfter > 0)
      }
    }
  }
}
