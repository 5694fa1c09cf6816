/// The rules for regular expressions.
enum PatternRule {
  static func problem(_ pattern: String, needsGroup: Bool) -> Problem? {
    // The match is bounded elsewhere. This limit bounds the cost of compilation.
    guard pattern.utf8.count <= 1_000, pattern.filter({ $0 == "(" || $0 == "[" }).count <= 50 else {
      return Problem(
        .invalidPattern, "this regular expression is too long",
        help: "use at most 1000 characters and 50 brackets")
    }
    do throws(Pattern.Malformed) {
      let compiled = try Pattern(pattern)
      guard needsGroup, compiled.groupCount == 0 else { return nil }
      return Problem(
        .invalidPattern, "this regular expression has no capture group",
        help: "put the part to capture in ( )")
    } catch {
      let before = String(pattern.unicodeScalars.prefix(error.offset).suffix(20))
      let place = before.isEmpty ? "at its beginning" : "after \(before.quoted)"
      return Problem(
        .invalidPattern, "this regular expression does not compile: \(error.message), \(place)",
        help: "see the syntax of PCRE2, pcre2syntax(3)")
    }
  }
}
