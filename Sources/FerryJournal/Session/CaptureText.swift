import FerryPlan

/// The stored form of captures: one compact JSON object, with the names in the order of capture.
enum CaptureText {
  /// `nil` if there is nothing to write.
  static func encode(_ values: [CapturedValue], secret: Bool) -> String? {
    var text = ""
    for value in values where value.isSecret == secret {
      text += text.isEmpty ? "{" : ","
      append(value.name, to: &text)
      text += ":"
      append(value.value, to: &text)
    }
    return text.isEmpty ? nil : text + "}"
  }

  /// `nil` if the text is not in the form that `encode` writes.
  static func decode(_ text: String?, secret: Bool) -> [CapturedValue]? {
    guard let text else { return [] }
    var reader = Reader(rest: text.unicodeScalars[...])
    var values: [CapturedValue] = []
    guard reader.skip("{") else { return nil }
    repeat {
      guard let name = reader.string(), reader.skip(":"), let value = reader.string() else { return nil }
      values.append(CapturedValue(name: name, value: value, isSecret: secret))
    } while reader.skip(",")
    return reader.skip("}") && reader.rest.isEmpty ? values : nil
  }

  /// A later response's value replaces an earlier one of the same name.
  static func merge(_ old: [CapturedValue], _ new: [CapturedValue]) -> [CapturedValue] {
    var merged = old
    for value in new {
      if let index = merged.firstIndex(where: { $0.name == value.name }) {
        merged[index] = value
      } else {
        merged.append(value)
      }
    }
    return merged
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

  private struct Reader {
    var rest: Substring.UnicodeScalarView

    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
      guard rest.first == scalar else { return false }
      rest.removeFirst()
      return true
    }

    mutating func string() -> String? {
      guard skip("\"") else { return nil }
      var string = String.UnicodeScalarView()
      while let scalar = rest.popFirst() {
        switch scalar {
        case "\"": return String(string)
        case "\\":
          switch rest.popFirst() {
          case "\"": string.append("\"")
          case "\\": string.append("\\")
          case "u":
            let digits = String(String.UnicodeScalarView(rest.prefix(4)))
            rest = rest.dropFirst(4)
            guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
              return nil
            }
            string.append(scalar)
          default: return nil
          }
        default: string.append(scalar)
        }
      }
      return nil
    }
  }
}
