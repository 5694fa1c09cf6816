import FerryPlan

/// One line of JSON, written key by key: a million of them need no encoder.
struct JSONLine {
  private(set) var text = "{"

  mutating func add(_ key: String, _ value: String?) {
    guard let value else { return }
    begin(key)
    Self.append(value, to: &text)
  }

  mutating func add(_ key: String, _ value: Int64?) {
    guard let value else { return }
    begin(key)
    text += "\(value)"
  }

  mutating func add(_ key: String, _ value: Instant?) { add(key, value?.rfc3339) }

  mutating func add(_ key: String, isSet: Bool) {
    begin(key)
    text += isSet ? "true" : "false"
  }

  /// An object of strings, in this order; nothing where there are none.
  mutating func add(_ key: String, _ values: [(name: String, value: String)]) {
    guard !values.isEmpty else { return }
    begin(key)
    var object = JSONLine()
    for value in values { object.add(value.name, value.value) }
    text += object.ended
  }

  /// A list of lines.
  mutating func add(_ key: String, _ lines: [JSONLine]) {
    begin(key)
    text += "[" + lines.map(\.ended).joined(separator: ",") + "]"
  }

  mutating func add(_ key: String, _ line: JSONLine) {
    begin(key)
    text += line.ended
  }

  var ended: String { text + "}" }

  private mutating func begin(_ key: String) {
    if text.utf8.count > 1 { text += "," }
    Self.append(key, to: &text)
    text += ":"
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
