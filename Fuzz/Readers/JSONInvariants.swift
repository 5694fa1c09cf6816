import FerryReport
import Foundation

@testable import FerryEngine

/// Invariants of JSON from servers, and of JSON pointers into it.
enum JSONInvariants {
  /// If the input has two parts, the first is a pointer.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.parts(atMost: 2)
    let bytes = parts.count > 1 ? parts[1] : parts[0]
    let pointer = parts.count > 1 ? parts[0].text : ""
    let isValid = isValidElsewhere(bytes)
    guard let value = try? JSONParser.parse(bytes) else {
      return isValid == true ? ["JSON is refused"] : []
    }
    var violations: [String] = []
    if isValid == false { violations.append("what is not JSON is taken") }
    _ = value.value(at: pointer)
    var written: [UInt8] = []
    let depth = write(value, to: &written, depth: 1)
    if depth > JSONParser.depthLimit { violations.append("\(depth) levels are taken") }
    if (try? JSONParser.parse(written)) != value { violations.append("what was read is not read again") }
    violations += pointers(value)
    return violations
  }

  /// Each value is found by its pointer. If several members have the same name, the last one is found.
  private static func pointers(_ root: JSONValue) -> [String] {
    var violations: [String] = []
    var rest: [(pointer: String, value: JSONValue)] = [("", root)]
    var looked = 0
    while let (pointer, value) = rest.popLast(), looked < 50 {
      looked += 1
      if root.value(at: pointer) != value { violations.append("'\(pointer)' names another value") }
      switch value {
      case .array(let elements):
        rest += elements.prefix(10).enumerated().map { ("\(pointer)/\($0.offset)", $0.element) }
      case .object(let members):
        for (place, member) in members.enumerated().prefix(10) {
          let isLast = !members[(place + 1)...].contains { $0.name.isSame(as: member.name) }
          guard isLast else { continue }
          var name = ""
          for scalar in member.name.unicodeScalars {
            name.unicodeScalars.append(
              contentsOf: scalar == "~"
                ? "~0".unicodeScalars : scalar == "/" ? "~1".unicodeScalars : String(scalar).unicodeScalars)
          }
          rest.append(("\(pointer)/\(name)", member.value))
        }
      case .null, .bool, .number, .string: break
      }
    }
    return violations
  }

  /// - Returns: the number of levels.
  private static func write(_ value: JSONValue, to text: inout [UInt8], depth: Int) -> Int {
    switch value {
    case .null: text += "null".utf8
    case .bool(let flag): text += (flag ? "true" : "false").utf8
    case .number(let digits): text += digits.utf8
    case .string(let string): JSONString.append(Array(string.utf8), to: &text)
    case .array(let elements):
      text += "[ ".utf8
      var deepest = depth
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ",".utf8 }
        deepest = max(deepest, write(element, to: &text, depth: depth + 1))
      }
      text += "]".utf8
      return deepest
    case .object(let members):
      text += "{".utf8
      var deepest = depth
      for (index, member) in members.enumerated() {
        if index > 0 { text += " ,".utf8 }
        JSONString.append(Array(member.name.utf8), to: &text)
        text += ":\n".utf8
        deepest = max(deepest, write(member.value, to: &text, depth: depth + 1))
      }
      text += "}".utf8
      return deepest
    }
    return depth
  }

  /// Whether Foundation accepts the JSON; `nil` if the two readers may differ by design.
  ///
  /// Foundation also accepts UTF-16, UTF-32, a trailing comma and deeper nesting. It rejects numbers that a `Double`
  /// cannot represent, unpaired surrogates, and text that is not UTF-8.
  private static func isValidElsewhere(_ bytes: [UInt8]) -> Bool? {
    guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0),
      !bytes.starts(with: [0xEF, 0xBB, 0xBF])
    else { return nil }
    let text = bytes.text
    let dense = bytes.filter { $0 > 0x20 }.text
    if dense.contains(",}") || dense.contains(",]") { return nil }
    if text.contains("\\u") || text.contains("e") || text.contains("E") || longestNumber(bytes) > 18 {
      return nil
    }
    if bytes.count(where: { $0 == 0x5B || $0 == 0x7B }) > 200 { return nil }
    return (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
  }

  private static func longestNumber(_ bytes: [UInt8]) -> Int {
    bytes.split { !(0x30...0x39).contains($0) && $0 != 0x2E && $0 != 0x2D }.map(\.count).max() ?? 0
  }
}
