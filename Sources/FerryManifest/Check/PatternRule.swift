/// What a regular expression must look like.
enum PatternRule {
  static func problem(_ pattern: String, needsGroup: Bool) -> Problem? {
    // The compiler of patterns calls itself for each bracket.
    guard pattern.utf8.count <= 1_000, pattern.filter({ $0 == "(" || $0 == "[" }).count <= 50 else {
      return Problem(
        .invalidPattern, "this regular expression is too long",
        help: "use at most 1000 letters and 50 brackets")
    }
    do {
      let regex = try Regex(pattern)
      // Swift tells the groups of a match only. With an empty alternative every pattern has a match, which has
      // all the groups.
      let withEmpty = try Regex("(?:\(pattern)\n?)|")
      let groups = "".wholeMatch(of: withEmpty).map { $0.output.count - 1 } ?? 0
      _ = regex
      guard needsGroup, groups == 0 else { return nil }
      return Problem(
        .invalidPattern, "this regular expression has no group", help: "put what is to be captured in ( )")
    } catch {
      return Problem(
        .invalidPattern, "this regular expression does not compile: \("\(error)".clipped)",
        help: "see the syntax of Swift's Regex")
    }
  }
}
