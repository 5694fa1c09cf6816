import FerryDigest

@testable import FerryPlan

/// Invariants of file names and servers' text as they are displayed, and of Base64.
enum NameInvariants {
  static func violations(by input: [UInt8]) -> [String] {
    var violations: [String] = []
    let shown = DisplayPath.shown(input)
    if isHostile(shown) { violations.append("a name is shown with a control character") }
    if shown.utf8.count > 4 * input.count + 2 { violations.append("\(shown.utf8.count) bytes are shown") }
    if let name = DisplayPath.read(shown.utf8) {
      if name != input { violations.append("the quoted name is read as another") }
    } else if !shown.utf8.elementsEqual(input) {
      violations.append("a name is shown as another")
    }
    let line = DisplayPath.line(input.text)
    if isHostile(line) { violations.append("a line is shown with a control character") }
    if !DisplayPath.line(line).isSame(as: line) { violations.append("a line is quoted twice") }
    // Reading must not crash, because a user can type any text as a name.
    _ = DisplayPath.read(input)
    if Base64.decode(Base64.encode(input)) != input { violations.append("Base64 is read as something else") }
    _ = Base64.decode(input.text)
    return violations
  }

  /// Whether the text has characters that reorder or hide text at a terminal. Joiners are allowed: emoji contain them.
  private static func isHostile(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2064,
        0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F,
        0x2800, 0x3164,
        0xFE00...0xFE0D, 0xFFA0, 0xE0000...0xE0FFF:
        true
      default: false
      }
    }
  }
}
