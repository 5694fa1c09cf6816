/// Builds the automaton of `GlobMatcher` (V. M. Glushkov 1961).
///
/// The work is at most quadratic in the number of places: each pair of places is visited once, when the two
/// parts that contain them are concatenated.
struct GlobBuilder {
  private(set) var letters: [GlobLetter] = [.ranges([], isNegated: false)]
  /// The places that may follow each place, `words` words each.
  private(set) var next: [UInt64]
  /// The number of words in a set of places.
  let words: Int

  /// The places at which a part of a glob can begin and end.
  private struct Ends {
    /// Whether the part also matches the empty string.
    var isEmpty: Bool
    var first: [Int] = []
    var last: [Int] = []
  }

  /// - Parameter places: the total number of places of all syntaxes that will be appended, plus one for the
  ///   beginning.
  init(places: Int) {
    words = (places + 63) / 64
    next = Array(repeating: 0, count: places * words)
  }

  /// Adds a glob to the automaton. An empty glob does not match any path.
  ///
  /// - Returns: the places at which the glob can end.
  mutating func append(_ glob: GlobSyntax) -> [Int] {
    let ends = add(glob)
    link([0], to: ends.first)
    return ends.last
  }

  private mutating func add(_ syntax: GlobSyntax) -> Ends {
    switch syntax {
    case .letter(let letter):
      let place = place(letter)
      return Ends(isEmpty: false, first: [place], last: [place])
    case .many(let letter):
      let place = place(letter)
      link([place], to: [place])
      return Ends(isEmpty: true, first: [place], last: [place])
    case .folders:
      let any = place(.any)
      let slash = place(.ranges([0x2F...0x2F], isNegated: false))
      link([any], to: [any, slash])
      return Ends(isEmpty: true, first: [any, slash], last: [slash])
    case .either(let choices):
      var ends = Ends(isEmpty: false)
      for choice in choices {
        let one = add(choice)
        ends.isEmpty = ends.isEmpty || one.isEmpty
        ends.first += one.first
        ends.last += one.last
      }
      return ends
    case .sequence(let parts):
      var ends = Ends(isEmpty: true)
      for part in parts {
        let one = add(part)
        link(ends.last, to: one.first)
        if ends.isEmpty { ends.first += one.first }
        if one.isEmpty { ends.last += one.last } else { ends.last = one.last }
        ends.isEmpty = ends.isEmpty && one.isEmpty
      }
      return ends
    }
  }

  private mutating func place(_ letter: GlobLetter) -> Int {
    letters.append(letter)
    return letters.count - 1
  }

  private mutating func link(_ places: [Int], to followers: [Int]) {
    for place in places {
      let row = place * words
      for follower in followers { next[row + follower / 64] |= 1 << UInt64(follower % 64) }
    }
  }
}
