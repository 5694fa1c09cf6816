/// The globs that have not matched a file yet.
struct UnmatchedGlobs: Sendable {
  /// The positions of these globs in the list of all globs.
  private(set) var globs: [Int]
  /// The union of the final places of `globs`. With it, a single test determines whether a file matches any
  /// of these globs.
  private var final: GlobMatcher.State

  init(_ matcher: GlobMatcher) {
    globs = Array(matcher.finals.indices)
    final = []
    unite(matcher)
  }

  /// Removes the globs that a state accepts.
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
