/// Finds the known name that is most similar to a misspelled one, for "did you mean" suggestions.
package enum NearestName {
  /// The nearest of `known` by edits (insertion, deletion, substitution, transposition), ignoring case, if at
  /// most one character or a third of the characters differ. Otherwise, the shortest name that begins with
  /// `name`, if `name` has at least three characters.
  static func nearest(to name: String, among known: some Collection<String>) -> String? {
    // Misspelled names are short, and the cost of the comparison is quadratic.
    guard name.count <= 64 else { return nil }
    let wanted = Array(name.lowercased())
    var best: (name: String, distance: Int)?
    for candidate in known where candidate.count <= 64 {
      let letters = Array(candidate.lowercased())
      let allowed = max(1, max(wanted.count, letters.count) / 3)
      guard abs(letters.count - wanted.count) <= allowed else { continue }
      let distance = distance(wanted, letters)
      if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    if let best { return best.name }
    guard wanted.count >= 3 else { return nil }
    let same = known.filter { $0.lowercased().hasPrefix(name.lowercased()) }
    return same.min { $0.count < $1.count }
  }

  package static func suggestion(for name: String, among known: some Collection<String>) -> String? {
    nearest(to: name, among: known).map { "did you mean \($0.quoted)?" }
  }

  /// Optimal string alignment distance.
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var before: [Int] = []
    var previous = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
        row.append(cost)
      }
      before = previous
      previous = row
    }
    return previous[b.count]
  }
}
