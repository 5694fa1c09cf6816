import Testing

@testable import FerryManifest

struct PatternTests {
  /// 1 MiB of one character, followed by `end`. `end` must contain the last character that a match needs: without it,
  /// PCRE2 would not start the match.
  private static func subject(_ character: Character, _ end: String) -> String {
    String(repeating: character, count: (1 << 20) - end.utf8.count) + end
  }

  /// Without a limit, each of these matches takes minutes or longer.
  @Test(arguments: [
    // At every position, PCRE2 scans the rest of the subject, without backtracking.
    ("(\\d+) items", subject("7", " s")), ("(\\d++) items", subject("7", " s")),
    ("(\\d+?) items", subject("7", " s")), ("([^ ]*) items", subject("7", " s")),
    // With every character, the number of possible matches doubles.
    ("^(\\d+)+$", subject("7", "x")), ("(x+x+)+y", subject("x", " y")), ("(?:x|xx)*y", subject("x", " y")),
    ("(.*)*y$", subject("x", "y z")), ("^(.*?x){11}P", subject("x", " P")),
    // The depth of backtracking grows with the length of the subject.
    ("^(?:x|y)*(z)", subject("x", " z")), ("(x(?1)?y)", subject("x", " y")),
    ("(x)\\1*(y)", subject("x", " y")),
  ]) func theWorkOfASearchIsBounded(_ pattern: String, _ subject: String) throws {
    let pattern = try Pattern(pattern)
    #expect(throws: Pattern.TooMuchWork()) { try pattern.firstMatch(in: subject) }
  }

  @Test func theTimeLimitEndsASearchWithLongSteps() throws {
    let run = String(repeating: "7", count: 59_999) + " "
    let pattern = try Pattern("(\\d{60000})x")
    var looks = 0
    #expect(throws: Pattern.TooMuchWork()) {
      try pattern.firstMatch(in: String(repeating: run, count: 17) + "x") {
        looks += 1
        return looks == 3
      }
    }
    #expect(looks == 3)
  }

  @Test(arguments: [
    ("\"id\": *\"(\\w+)\"", "{\"id\": \"abc\"}"), ("id=([^&]+)", "id=abc&x=1"),
    ("(?s)^.*id=(\\w+)$", "\nid=abc"),
    ("^id=(\\w+)$|^(?m:id:(.*))$", "id=abc"), ("(?:x|y)*id=(abc)", "id=abc"), ("x(\\w+?)(?=;|$)", "xabc"),
  ]) func ordinaryPatternsReachTheEndOfALargeResponse(_ pattern: String, _ end: String) throws {
    let pattern = try Pattern(pattern)
    let isAnchored = end == "id=abc"
    let subject = (isAnchored ? "" : String(repeating: "lorem ipsum 12 ", count: 65_536)) + end
    #expect(try pattern.firstMatch(in: subject)?.firstGroup == "abc")
  }

  @Test func theFirstGroupIsCaptured() throws {
    #expect(try Pattern("a(b)?").firstMatch(in: "xa") == Pattern.Match(firstGroup: nil))
    #expect(try Pattern("a(b*)").firstMatch(in: "xa") == Pattern.Match(firstGroup: ""))
    #expect(try Pattern("(é)(x)").firstMatch(in: "éx")?.firstGroup == "é")
    #expect(try Pattern("^()$").firstMatch(in: "")?.firstGroup == "")
    #expect(try Pattern("b").firstMatch(in: "a") == nil)
    #expect(try Pattern("(a)(b)").groupCount == 2)
    #expect(try Pattern("(?:a)").groupCount == 0)
  }

  @Test(arguments: [
    ("id=(", "missing closing parenthesis", 4), ("é+[", "missing terminating ] for character class", 3),
    ("a\\Cb", "using \\C is disabled by the application", 3),
    ("(?<n>a)(?<n>b)", "two named subpatterns have the same name (PCRE2_DUPNAMES not set)", 12),
  ]) func aPatternThatDoesNotCompileReportsItsLocation(_ pattern: String, _ message: String, _ offset: Int) {
    #expect(throws: Pattern.Malformed(message: message, offset: offset)) { try Pattern(pattern) }
  }
}
