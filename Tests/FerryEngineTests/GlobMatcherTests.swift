import Testing

@testable import FerryEngine

struct GlobMatcherTests {
  @Test(arguments: [
    ("*.jpg", "a.jpg", true), ("*.jpg", "d/a.jpg", false), ("*.jpg", ".jpg", true), ("*.jpg", "a.JPG", false),
    ("**/*.jpg", "a.jpg", true), ("**/*.jpg", "d/a.jpg", true), ("**/*.jpg", "d/e/a.jpg", true),
    ("**/*.jpg", "d/a.jpg/b", false), ("**", "a", true), ("**", "a/b/.c", true), ("a/**", "a/b/c", true),
    ("a/**", "a", false), ("a/**", "b/a/c", false), ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true),
    ("a/**/b", "a/xb", false), ("a**b", "a/x/b", true), ("**/.*", ".git", true), ("**/.*", "a/.git", true),
    ("**/.*", "a/b", false), ("**/.*", "a.b", false), ("?", "a", true), ("?", "/", false), ("?", "é", true),
    ("?", "😀", true), ("??", "é", false), ("a?c", "a/c", false), ("a?c", "abc", true), ("[a-c]x", "bx", true),
    ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true), ("[!a-c]x", "ax", false), ("[^a]", "b", true),
    ("a[!x]b", "a/b", false), ("a[--0]b", "a/b", false), ("[]a]", "]", true), ("[a-]", "-", true),
    ("[ä-ü]", "ö", true),
    ("[!ä]", "ä", false), ("*.{jpg,png}", "a.png", true), ("*.{jpg,png}", "a.gif", false),
    ("{a,b{c,d}}", "bd", true),
    ("{a,b{c,d}}", "b", false), ("a{,b}", "a", true), ("{**/x,y}/z", "q/x/z", true), ("a,b", "a,b", true),
    ("a}", "a}", true), ("\\*", "*", true), ("\\*", "a", false), ("\\[a", "[a", true), ("[\\]]", "]", true),
    ("a\\", "a\\", true), ("./a", "a", true), ("a/", "a", true), ("", "", false),
    ("*a*b*c", "xxaybzc", true), ("*a*b*c", "xxacbz", false),
  ]) func globsMatch(_ glob: String, _ path: String, _ isMatch: Bool) throws {
    #expect(try GlobMatcher([glob]).matches(Array(path.utf8)) == isMatch)
  }

  @Test(arguments: ["[a", "{a,b", "[", "[z-a]", String(repeating: "{", count: 5_000)])
  func aBrokenGlobIsRefused(_ glob: String) {
    #expect(throws: ListingFailure.self) { try GlobMatcher([glob]) }
  }

  @Test func manyGlobsAreCombinedInOneMatcher() throws {
    let matcher = try GlobMatcher((0..<200).map { "dir\($0)/*.x" })
    #expect(matcher.matches(Array("dir199/a.x".utf8)) && !matcher.matches(Array("dir200/a.x".utf8)))
  }

  @Test func aStrayByteIsOneLetter() throws {
    #expect(try GlobMatcher(["a?b"]).matches([0x61, 0xFF, 0x62]))
    #expect(try GlobMatcher(["?"]).matches([0xC3, 0x28]) == false)
  }

  @Test(.timeLimit(.minutes(1))) func aGlobOfManyStarsIsNotSlow() throws {
    let matcher = try GlobMatcher([String(repeating: "*a", count: 60) + "b"])
    #expect(!matcher.matches(Array(repeating: 0x61, count: 20_000)))
  }

  /// Each part may be followed by any later part, but the table of possible next parts has a fixed size.
  @Test func globsWhosePartsAllMayBeEmptyAreBuiltInBoundedTime() throws {
    let glob = String(repeating: "{*,}", count: 2_000)
    var isMatch = false
    let time = try ThreadTime.measure { isMatch = try GlobMatcher([glob]).matches(Array("abc".utf8)) }
    #expect(isMatch && time < .seconds(30), "\(time)")
  }

  @Test func globsWithTooManyLettersAreRefusedBeforeTheyAreBuilt() {
    let glob = String(repeating: "{*,}", count: 500_000)
    let time = ThreadTime.measure { _ = #expect(throws: ListingFailure.self) { try GlobMatcher([glob]) } }
    #expect(time < .seconds(60), "\(time)")
  }
}
