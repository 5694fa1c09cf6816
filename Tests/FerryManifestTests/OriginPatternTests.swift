import Testing

@testable import FerryManifest

struct OriginPatternTests {
  @Test(arguments: [
    ("https://api.example.com", "https", "api.example.com", 443, true),
    ("https://API.example.com", "https", "api.example.com", 443, true),
    ("https://api.example.com", "http", "api.example.com", 80, false),
    ("https://api.example.com", "https", "api.example.com", 444, false),
    ("https://api.example.com", "https", "x.api.example.com", 443, false),
    ("https://*.example.com", "https", "api.example.com", 443, true),
    ("https://*.example.com", "https", "a.b.example.com", 443, true),
    ("https://*.example.com", "https", "example.com", 443, false),
    ("https://*.example.com", "https", ".example.com", 443, false),
    ("https://*.example.com", "https", "evilexample.com", 443, false),
    ("https://*.example.com", "https", "example.com.evil", 443, false),
    ("http://127.0.0.1:8080", "http", "127.0.0.1", 8080, true),
    ("http://[::1]:8080", "http", "[::1]", 8080, true),
  ])
  func matchesOnlyItsOrigin(pattern: String, scheme: String, host: String, port: Int, isMatch: Bool) throws {
    #expect(try #require(OriginPattern(pattern)).matches(scheme: scheme, host: host, port: port) == isMatch)
  }

  @Test(arguments: [
    "", "api.example.com", "ftp://h", "https://", "https://*", "https://*.com", "https://h/", "https://h/x",
    "https://u@h", "https://h:0", "https://h:x", "https://h:70000", "https://h:+1", "https://a*.b.c",
    "https://.h", "https://h?x",
    "https://h h", "https://[x]",
  ])
  func anythingButAnOriginIsRejected(text: String) {
    #expect(OriginPattern(text) == nil)
  }
}
