/// Strings in YAML, in double quotes.
enum YAMLString {
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case " "..."~": quoted.unicodeScalars.append(scalar)
      // YAML considers some of the other characters line breaks or unprintable. It has no surrogate pairs, unlike JSON.
      default:
        let isShort = scalar.value < 0x1_0000
        quoted += (isShort ? "\\u" : "\\U") + hexadecimal(scalar.value, digits: isShort ? 4 : 8)
      }
    }
    return quoted + "\""
  }

  /// A list in brackets.
  static func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

  private static func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
