/// The globs that no file has met yet.
struct UnmatchedGlobs: Sendable {
  /// By their places in the list.
  private(set) var globs: [Int]
  /// The places where any of them accepts: one look tells that a file meets none.
  private var final: GlobMatcher.State

  init(_ matcher: GlobMatcher) {
    globs = Array(matcher.finals.indices)
    final = []
    unite(matcher)
  }

  /// Takes out the globs that accept in a state.
  mutating func meet(_ state: GlobMatcher.State, of matcher: GlobMatcher) {
    guard !globs.isEmpty, GlobMatcher.meets(state, final) else { return }
    globs.removeAll { GlobMatcher.meets(state, matcher.finals[$0]) }
    unite(matcher)
  }

  private mutating func unite(_ matcher: GlobMatcher) {
    final = GlobMatcher.State(repeating: 0, count: matcher.start.count)
    for glob in globs {
      for word in final.indices { final[word] |= matcher.finals[glob][word] }
    }
  }
}
