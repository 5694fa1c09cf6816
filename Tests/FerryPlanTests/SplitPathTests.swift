import Testing

@testable import FerryPlan

struct SplitPathTests {
  @Test(arguments: [
    ("/a/b", "/a/", "/a", "b"), ("a", "", "", "a"), ("/a", "/", "/", "a"), ("a//b", "a//", "a", "b"),
    ("a/", "a/", "a", ""), ("", "", "", ""), ("//", "//", "/", ""),
    // In Swift, a slash and a combining mark after it are one `Character`.
    ("/a/\u{301}b", "/a/", "/a", "\u{301}b"), ("/\u{301}a/\u{301}b", "/\u{301}a/", "/\u{301}a", "\u{301}b"),
    ("/a\u{301}/b", "/a\u{301}/", "/a\u{301}", "b"),
  ])
  func aPathIsSplitAtItsLastSlash(_ path: String, start: String, folder: String, name: String) {
    let split = SplitPath(path)
    #expect(split.start.utf8.elementsEqual(start.utf8) && split.name.utf8.elementsEqual(name.utf8))
    #expect(split.folder.utf8.elementsEqual(folder.utf8))
  }

  @Test func theNamesOfAPathAreBetweenItsSlashes() {
    #expect(SplitPath.names(of: "/a//\u{301}b/c\u{301}/") == ["a", "\u{301}b", "c\u{301}"])
    #expect(SplitPath.names(of: "") == [])
  }
}
