@testable import FerryEngine

/// Invariants of globs, compared with a matcher that interprets the syntax letter by letter.
enum GlobInvariants {
  /// The first part of the input is a glob, the second a path.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.parts(atMost: 2)
    let glob = parts[0].text
    let path = parts.count > 1 ? parts[1] : []
    do throws(ListingFailure) {
      let matcher = try GlobMatcher([glob])
      let syntax = try GlobParser.parse(glob)
      var violations: [String] = []
      if path.count <= 100, glob.utf8.count <= 200 {
        // An empty path does not name a file and matches nothing.
        let expected =
          !path.isEmpty && ends(syntax, in: letters(path), from: [0]).contains(letters(path).count)
        if matcher.matches(path) != expected {
          violations.append("'\(glob)' \(expected ? "does not match" : "matches") \(path.text)")
        }
      } else {
        _ = matcher.matches(path)
      }
      // Several globs match a path if one of them does.
      let several = try GlobMatcher(["a", glob, "b"])
      if several.matches(path) != (matcher.matches(path) || path == [0x61] || path == [0x62]) {
        violations.append("'\(glob)' matches differently among others")
      }
      return violations
    } catch {
      return error.message.isEmpty ? ["there is no reason"] : []
    }
  }

  /// The positions at which a match of the syntax can end if it starts at one of these positions.
  private static func ends(_ syntax: GlobSyntax, in letters: [UInt32], from starts: Set<Int>) -> Set<Int> {
    switch syntax {
    case .letter(let letter):
      return Set(starts.filter { $0 < letters.count && letter.matches(letters[$0]) }.map { $0 + 1 })
    case .sequence(let parts):
      return parts.reduce(starts) { ends($1, in: letters, from: $0) }
    case .either(let choices):
      return choices.reduce([]) { $0.union(ends($1, in: letters, from: starts)) }
    case .many(let letter):
      var reached = starts
      for place in letters.indices where reached.contains(place) && letter.matches(letters[place]) {
        reached.insert(place + 1)
      }
      return reached
    case .folders:
      guard let first = starts.min() else { return [] }
      return starts.union(
        letters.indices.filter { place in
          letters[place] == 0x2F && place >= first
        }.map { $0 + 1 })
    }
  }

  /// The path's Unicode scalars, and the bytes that are not part of a valid scalar.
  private static func letters(_ path: [UInt8]) -> [UInt32] {
    var letters: [UInt32] = []
    var rest = path[...]
    while let first = rest.first {
      let scalar = (1...4).lazy.compactMap { length in
        String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars.first
      }.first
      letters.append(scalar?.value ?? GlobLetter.strayBase + UInt32(first))
      rest = rest.dropFirst(scalar.map { String($0).utf8.count } ?? 1)
    }
    return letters
  }
}
