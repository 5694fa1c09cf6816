/// Formats percentages for display.
enum PercentText {
  static func text(_ percent: Double) -> String {
    let text = percent == percent.rounded() && abs(percent) < 1e15 ? "\(Int64(percent))" : "\(percent)"
    return text + "%"
  }

  static func signed(_ percent: Double) -> String { (percent >= 0 ? "+" : "") + text(percent) }
}
