import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

struct ResponseExcerptTests {
  private func line(_ text: String, isCut: Bool = false) -> String? {
    ResponseExcerpt.line(Array(text.utf8), isCut: isCut, limit: ResponseExcerpt.bodyLimit)
  }

  @Test func aBodyIsShownOnOneLineWithoutWhatATerminalInterprets() {
    #expect(line("{\r\n  \"field\":\t\"title\"\n}\n") == #"{ "field": "title" }"#)
    #expect(line("a\u{1B}[31mb\u{7}\u{9B}c\u{202E}d") == #"a\033[31mb\a\302\233c\342\200\256d"#)
    #expect(line(" \n\t ") == nil)
    #expect(line("") == nil)
  }

  @Test func aLongBodyIsCutBetweenCharacters() throws {
    for width in 0..<4 {
      let text = try #require(line(String(repeating: "x", count: width) + String(repeating: "€", count: 400)))
      #expect(text.hasSuffix("€…"))
      let count = text.utf8.count - "…".utf8.count
      #expect((298...300).contains(count), "\(count)")
    }
    #expect(line(String(repeating: "x", count: 300)) == String(repeating: "x", count: 300))
    #expect(line("short", isCut: true) == "short…")
    // A character with many combining marks is truncated, too.
    let marks = try #require(line("e" + String(repeating: "\u{301}", count: 1000)))
    #expect(marks.utf8.count <= 303)
  }

  @Test(arguments: [
    ("application/json", true), ("application/problem+json; charset=utf-8", true), ("TEXT/HTML", true),
    ("image/svg+xml", true), ("application/octet-stream", false), ("image/png", false),
  ])
  func onlyTextIsShown(_ type: String, isText: Bool) {
    let response = TransferResponse(
      status: 400, headers: [(name: "content-type", value: type)], body: Array("x".utf8), url: "http://h/")
    #expect(ResponseExcerpt.isText(response) == isText)
  }

  @Test func aBodyWithoutATypeIsTextIfItIsUTF8() {
    func isText(_ body: [UInt8]) -> Bool {
      ResponseExcerpt.isText(TransferResponse(status: 400, headers: [], body: body, url: "http://h/"))
    }
    #expect(isText(Array("naïve".utf8)) && isText([]) && isText([0x61, 0xE2, 0x82]))
    #expect(!isText([0x61, 0]) && !isText([0xFF, 0x61]) && !isText([0x61, 0xE2, 0x82, 0x28]))
  }

  @Test(arguments: [
    ("http://bob:hunter2@h:1/a%20b?x=1&y=&z#f", "http://h:1/a%20b?x=***&y=&***"),
    ("https://h/a", "https://h/a"), ("https://h/?", "https://h/?"),
    ("https://h/a?x=1=2&&", "https://h/a?x=***&&"),
  ])
  func aURLIsShownWithoutPasswordAndWithoutTheValuesOfItsQuery(_ url: String, shown: String) {
    #expect(ResponseExcerpt.shown(url) == shown)
  }
}
