import Testing

@testable import FerryEngine

@Suite struct `A password in a URL` {
  @Test(arguments: [
    ("http://u:secret@h/", ["secret", "secret", "u:secret"]),
    ("http://u:s%40t@h:1/a?b", ["s%40t", "s@t", "u:s@t"]),
    ("http://token@h", ["token", "token", "token:"]), ("http://token:@h", ["token", "token", "token:"]),
    ("http://h/users/@me", []), ("http://h:80/?a=b@c", []), ("u:p@h", []), ("", []), ("http://@h", []),
    ("http://u:50%@h", ["50%", "50%", "u:50%"]),
  ])
  func `is what precedes the host`(_ url: String, _ passwords: [String]) {
    #expect(WrittenPasswords.inURL(url) == passwords)
  }

  @Test(arguments: [
    ("http://u:secret@h:1", ["secret", "secret", "u:secret"]),
    ("u:secret@h", ["secret", "secret", "u:secret"]),
    ("http://u:se/cret@h", ["se/cret", "se/cret", "u:se/cret"]), ("u:a@b@h", ["a@b", "a@b", "u:a@b"]),
    ("h:3128", []),
  ])
  func `of a proxy ends at the last at sign`(_ url: String, _ passwords: [String]) {
    #expect(WrittenPasswords.inProxy(url) == passwords)
  }

  @Test func `of the environment is that of the variables that libcurl reads`() {
    let found = WrittenPasswords.inEnvironment([
      "http_proxy": "http://u:one@h", "HTTP_PROXY": "http://u:no@h", "ALL_PROXY": "u:two@h",
      "no_proxy": "u:no@h",
    ])
    #expect(found == ["one", "two", "u:one", "u:two"])
  }
}
