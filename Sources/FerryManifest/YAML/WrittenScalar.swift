/// Writes scalars on one line so that ferry and YAML 1.1 parsers read back the same values.
enum WrittenScalar {
  enum Context {
    /// A value of a mapping or list in block style.
    case block
    /// A value inside `[ ]`.
    case flow
    case key
  }

  static func text(_ scalar: YAMLScalar, in context: Context) -> String {
    switch scalar.value {
    case .string: string(scalar.text, in: context)
    case .null where scalar.text.isEmpty: "null"
    case .null, .bool, .integer, .hugeInteger, .float: scalar.text
    }
  }

  /// Formats a string: unquoted if that is safe; otherwise in single quotes if these avoid backslashes;
  /// otherwise in double quotes.
  static func string(_ text: String, in context: Context) -> String {
    if isSafePlain(text, in: context) { return text }
    let letters = text.unicodeScalars
    if letters.contains(where: { $0 == "\\" || $0 == "\"" }), !letters.contains(where: mustEscape) {
      return "'\(letters.reduce(into: "") { $0 += $1 == "'" ? "''" : String($1) })'"
    }
    var quoted = "\""
    for letter in letters {
      switch letter {
      case "\"", "\\": quoted += "\\\(letter)"
      default: quoted += visible(letter)
      }
    }
    return quoted + "\""
  }

  /// A key. Declared keys and names are not quoted.
  static func key(_ text: String) -> String {
    // The language has a key `null`. A key is always a word, even if it resembles a different type.
    text == "null" ? text : string(text, in: .key)
  }

  /// A string for a comment: line breaks and invisible characters are escaped.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += visible($1) }
  }

  private static func visible(_ letter: Unicode.Scalar) -> String {
    guard mustEscape(letter) else { return String(letter) }
    switch letter {
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    case "\0": return "\\0"
    default:
      let code = String(letter.value, radix: 16, uppercase: true)
      let (mark, width) = letter.value < 0x100 ? ("x", 2) : letter.value < 0x10000 ? ("u", 4) : ("U", 8)
      return "\\\(mark)\(String(repeating: "0", count: width - code.count))\(code)"
    }
  }

  /// Whether the character is not allowed in YAML (§5.1, c-printable), is a line break in any YAML version,
  /// or is invisible or misleading.
  private static func mustEscape(_ letter: Unicode.Scalar) -> Bool {
    switch letter.value {
    case 0x20...0x7E: false
    case 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF:
      letter.properties.isWhitespace || letter.isHostile
    default: true
    }
  }

  private static func isSafePlain(_ text: String, in context: Context) -> Bool {
    // Iterates over code points, as YAML does: a colon and a following combining accent are a single
    // Character, but YAML still reads a colon.
    let letters = text.unicodeScalars
    guard let first = letters.first, let last = letters.last, first != " ", last != " ", last != ":",
      !"-?:,[]{}#&*!|>'\"%@`=<".unicodeScalars.contains(first), !letters.contains(where: mustEscape),
      YAMLScalar.resolve(text) == .string, !wordsOfYAML11.contains(text.lowercased())
    else { return false }
    // At the start of a line, `---` and `...` separate documents.
    guard !letters.starts(with: "...".unicodeScalars) else { return false }
    switch context {
    case .block:
      return zip(letters, letters.dropFirst()).allSatisfy { pair in
        pair != (":", " ") && pair != (" ", "#")
      }
    case .flow, .key: return !letters.contains { ":#,?[]{}".unicodeScalars.contains($0) }
    }
  }

  /// Booleans of YAML 1.1. ferry reads them as strings, but other tools that read its output may not.
  private static let wordsOfYAML11: Set<String> = ["yes", "no", "on", "off", "y", "n"]
}

extension YAMLScalar {
  /// The text as an element of a bracketed list, for help: quoted if required there.
  var inList: String {
    value == .string ? WrittenScalar.string(text.clipped, in: .flow) : text.clipped
  }
}
