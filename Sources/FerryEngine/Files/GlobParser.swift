/// Parses a glob. `*` and `?` do not match a slash, but `**` does; `[a-z]`, `[!a]` and `{a,b}` are
/// supported, and `\` escapes a character.
struct GlobParser {
  /// The maximum nesting depth of braces; the parser is recursive.
  private static let depthLimit = 32

  private let glob: String
  private let letters: [UInt32]
  private var position = 0

  static func parse(_ glob: String) throws(ListingFailure) -> GlobSyntax {
    var parser = GlobParser(glob)
    return try parser.sequence(depth: 0)
  }

  private init(_ glob: String) {
    self.glob = glob
    var letters = glob.unicodeScalars.map(\.value)
    if letters.starts(with: [0x2E, 0x2F]) { letters.removeFirst(2) }
    // `cache/` matches the folder `cache`.
    if letters.count > 1, letters.last == 0x2F { letters.removeLast() }
    self.letters = letters
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    position + ahead < letters.count ? Unicode.Scalar(letters[position + ahead]) : nil
  }

  private mutating func sequence(depth: Int) throws(ListingFailure) -> GlobSyntax {
    guard depth < Self.depthLimit else { throw failure("has too many nested braces") }
    var parts: [GlobSyntax] = []
    while let letter = peek() {
      if depth > 0, letter == "," || letter == "}" { break }
      position += 1
      switch letter {
      case "*": parts.append(star())
      case "?": parts.append(.letter(.anyButSlash))
      case "[": parts.append(.letter(try letterClass()))
      case "{": parts.append(try braces(depth: depth))
      case "\\" where peek() != nil:
        parts.append(exactly(letters[position]))
        position += 1
      default: parts.append(exactly(letter.value))
      }
    }
    return .sequence(parts)
  }

  private func exactly(_ letter: UInt32) -> GlobSyntax {
    .letter(.ranges([letter...letter], isNegated: false))
  }

  private mutating func star() -> GlobSyntax {
    guard peek() == "*" else { return .many(.anyButSlash) }
    let before = position >= 2 ? Unicode.Scalar(letters[position - 2]) : nil
    while peek() == "*" { position += 1 }
    let beginsName = before == nil || before == "/" || before == "{" || before == ","
    guard beginsName, peek() == "/" else { return .many(.any) }
    position += 1
    return .folders
  }

  private mutating func braces(depth: Int) throws(ListingFailure) -> GlobSyntax {
    var choices: [GlobSyntax] = []
    while true {
      choices.append(try sequence(depth: depth + 1))
      guard let end = peek() else { throw failure("has an unclosed '{'") }
      position += 1
      if end == "}" { return .either(choices) }
    }
  }

  private mutating func letterClass() throws(ListingFailure) -> GlobLetter {
    let isNegated = peek() == "!" || peek() == "^"
    if isNegated { position += 1 }
    var ranges: [ClosedRange<UInt32>] = []
    var isFirst = true
    while let letter = peek(), isFirst || letter != "]" {
      isFirst = false
      let low = try classLetter()
      if peek() == "-", let end = peek(1), end != "]" {
        position += 1
        let high = try classLetter()
        guard low <= high else { throw failure("has a reversed range") }
        ranges.append(low...high)
      } else {
        ranges.append(low...low)
      }
    }
    guard peek() == "]" else { throw failure("has an unclosed '['") }
    position += 1
    if !isNegated {
      ranges = ranges.flatMap { range -> [ClosedRange<UInt32>] in
        guard range.contains(0x2F) else { return [range] }
        return [(range.lowerBound, 0x2E), (0x30, range.upperBound)].filter { $0.0 <= $0.1 }.map {
          $0.0...$0.1
        }
      }
    }
    return .ranges(ranges, isNegated: isNegated)
  }

  private mutating func classLetter() throws(ListingFailure) -> UInt32 {
    if peek() == "\\" { position += 1 }
    guard let letter = peek() else { throw failure("has an unclosed '['") }
    position += 1
    return letter.value
  }

  private func failure(_ what: String) -> ListingFailure {
    ListingFailure(message: "the glob '\(glob)' \(what)")
  }
}
