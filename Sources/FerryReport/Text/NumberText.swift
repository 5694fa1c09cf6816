/// Formats numbers for display.
enum NumberText {
  /// The number with a comma between groups of three digits.
  static func text(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0, index % 3 == 0, digit != "-" { text = "," + text }
      text = String(digit) + text
    }
    return text
  }
}
