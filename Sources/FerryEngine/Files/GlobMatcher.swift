/// Several globs in one automaton. The automaton reads each character of a path once, so matching is fast for every
/// glob.
///
/// The places of the automaton are the positions in V. M. Glushkov's construction (1961): the characters of the globs.
/// A state is the set of places reached. A folder walk keeps the state after each folder's slash, so for an entry it
/// reads only the name, not the whole path.
struct GlobMatcher: Sendable {
  /// A set of places, 64 per word; empty if no continuation can match.
  typealias State = [UInt64]

  static let placeLimit = 16_384

  private let letters: [GlobLetter]
  /// The places that match each ASCII character, `words` words each.
  private let ascii: [UInt64]
  /// The places that may follow each place, `words` words each.
  private let next: [UInt64]
  private let final: [UInt64]
  /// The part of `final` that belongs to each glob.
  let finals: [State]
  private let words: Int
  let start: State

  init(_ globs: [String]) throws(ListingFailure) {
    var syntaxes: [GlobSyntax] = []
    // Place 0 is the beginning; no character leads to it.
    var places = 1
    for glob in globs {
      let syntax = try GlobParser.parse(glob)
      places += syntax.placeCount
      // Check before the automaton is built: the table of following places has a bit for each pair of
      // places.
      guard places <= Self.placeLimit else {
        throw ListingFailure(message: "the globs have more than \(Self.placeLimit) characters in total")
      }
      syntaxes.append(syntax)
    }
    var builder = GlobBuilder(places: places)
    let last = syntaxes.map { builder.append($0) }
    let words = builder.words
    self.words = words
    letters = builder.letters
    next = builder.next
    start = Self.set([0], words)
    final = Self.set(last.joined(), words)
    finals = last.map { Self.set($0, words) }
    ascii = (0..<128).flatMap { [letters] letter in
      Self.set(letters.indices.filter { letters[$0].matches(UInt32(letter)) }, words)
    }
  }

  /// Advances a state over more bytes of a path: complete names, or names and slashes.
  func advance(_ state: inout State, over bytes: UnsafeRawBufferPointer) {
    var scratch = State(repeating: 0, count: words)
    advance(&state, over: bytes, scratch: &scratch)
  }

  /// Like `advance(_:over:)`, with a scratch set of the same size, which avoids an allocation for each name.
  func advance(_ state: inout State, over bytes: UnsafeRawBufferPointer, scratch: inout State) {
    if words == 1 { return advance(&state[0], over: bytes) }
    var position = 0
    while position < bytes.count {
      let byte = bytes[position]
      if byte < 0x80 {
        position += 1
        step(&state, scratch: &scratch, ascii: Int(byte))
      } else {
        let (letter, length) = Self.letter(in: bytes, at: position)
        position += length
        step(&state, scratch: &scratch, letter: letter)
      }
    }
  }

  /// Like `advance(_:over:)`, for globs of at most 63 characters in total, whose states fit in a single word.
  private func advance(_ state: inout UInt64, over bytes: UnsafeRawBufferPointer) {
    next.withUnsafeBufferPointer { next in
      var position = 0
      while position < bytes.count, state != 0 {
        var reached: UInt64 = 0
        while state != 0 {
          reached |= next[state.trailingZeroBitCount]
          state &= state - 1
        }
        let byte = bytes[position]
        if byte < 0x80 {
          position += 1
          state = reached & ascii[Int(byte)]
        } else {
          let (letter, length) = Self.letter(in: bytes, at: position)
          position += length
          state = matching(reached, word: 0, letter)
        }
      }
    }
  }

  func isDead(_ state: State) -> Bool { state.allSatisfy { $0 == 0 } }

  func accepts(_ state: State) -> Bool { Self.meets(state, final) }

  /// Whether two sets have a place in common.
  static func meets(_ a: State, _ b: State) -> Bool {
    for word in a.indices where a[word] & b[word] != 0 { return true }
    return false
  }

  func matches(_ path: [UInt8]) -> Bool {
    var state = start
    path.withUnsafeBytes { advance(&state, over: $0) }
    return accepts(state)
  }

  private func step(_ state: inout State, scratch: inout State, ascii letter: Int) {
    reach(from: state, into: &scratch)
    for word in 0..<words { state[word] = scratch[word] & ascii[letter * words + word] }
  }

  private func step(_ state: inout State, scratch: inout State, letter: UInt32) {
    reach(from: state, into: &scratch)
    for word in 0..<words { state[word] = matching(scratch[word], word: word, letter) }
  }

  /// The places of a word that match a character.
  private func matching(_ places: UInt64, word: Int, _ letter: UInt32) -> UInt64 {
    var rest = places
    var kept: UInt64 = 0
    while rest != 0 {
      let bit = rest.trailingZeroBitCount
      if letters[word * 64 + bit].matches(letter) { kept |= 1 << UInt64(bit) }
      rest &= rest - 1
    }
    return kept
  }

  private func reach(from state: State, into scratch: inout State) {
    for word in 0..<words { scratch[word] = 0 }
    for word in 0..<words {
      var bits = state[word]
      while bits != 0 {
        let place = word * 64 + bits.trailingZeroBitCount
        bits &= bits - 1
        for other in 0..<words { scratch[other] |= next[place * words + other] }
      }
    }
  }

  /// Decodes one Unicode scalar, or one byte that is not UTF-8.
  private static func letter(in bytes: UnsafeRawBufferPointer, at position: Int) -> (UInt32, length: Int) {
    let first = bytes[position]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    let stray = (GlobLetter.strayBase + UInt32(first), length: 1)
    guard first >= 0xC2, first <= 0xF4, bytes.count - position >= length else { return stray }
    var scalar = UInt32(first) & (0xFF >> UInt32(length + 1))
    for byte in bytes[(position + 1)..<(position + length)] {
      guard byte & 0xC0 == 0x80 else { return stray }
      scalar = scalar << 6 | UInt32(byte & 0x3F)
    }
    let least: UInt32 = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80
    guard scalar >= least, Unicode.Scalar(scalar) != nil else { return stray }
    return (scalar, length)
  }

  private static func set(_ places: some Sequence<Int>, _ words: Int) -> State {
    var set = State(repeating: 0, count: words)
    for place in places { set[place / 64] |= 1 << UInt64(place % 64) }
    return set
  }
}
