/// The syntax of a glob, as parsed by `GlobParser`.
indirect enum GlobSyntax {
  /// One character of a path.
  case letter(GlobLetter)
  case sequence([GlobSyntax])
  case either([GlobSyntax])
  /// Any number of characters, including none.
  case many(GlobLetter)
  /// `**/`: any number of folders, including none.
  case folders

  /// The number of places in the automaton.
  var placeCount: Int {
    switch self {
    case .letter, .many: 1
    case .folders: 2
    case .sequence(let parts), .either(let parts): parts.reduce(0) { $0 + $1.placeCount }
    }
  }
}

/// The characters that match at one place. A character is a Unicode scalar; a byte that is not valid UTF-8
/// is represented by `GlobLetter.strayBase` plus its value.
enum GlobLetter {
  static let strayBase: UInt32 = 0x110000

  case any
  case anyButSlash
  case ranges([ClosedRange<UInt32>], isNegated: Bool)

  func matches(_ letter: UInt32) -> Bool {
    switch self {
    case .any: true
    case .anyButSlash: letter != 0x2F
    case .ranges(let ranges, let isNegated):
      // A negated class does not match a slash.
      ranges.contains { $0.contains(letter) } != isNegated && (!isNegated || letter != 0x2F)
    }
  }
}
