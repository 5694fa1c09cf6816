import FerryPlan
import Foundation
import Testing

@testable import FerryJournal

struct CaptureTextTests {
  @Test(arguments: [
    "", "plain", "a\"b\\c", "\u{0}\n\u{1F}\u{7F}", "é\u{301}\u{1F600}", "\\u0041", "{\"a\":1},",
  ])
  func writtenTextIsReadBack(_ value: String) throws {
    let captures = [
      CapturedValue(name: "allocate.id", value: value, isSecret: false),
      CapturedValue(name: value, value: "x", isSecret: false),
    ]
    let text = try #require(CaptureText.encode(captures, secret: false))
    let read = try #require(CaptureText.decode(text, secret: false))
    #expect(read.map { Array($0.name.utf8) } == captures.map { Array($0.name.utf8) })
    #expect(read.map { Array($0.value.utf8) } == captures.map { Array($0.value.utf8) })
  }

  @Test func theFormatIsJSON() {
    let capture = CapturedValue(name: "n", value: "\"\\\u{1}\u{1F}/é", isSecret: true)
    #expect(CaptureText.encode([capture], secret: true) == #"{"n":"\"\\\u0001\u001f/é"}"#)
    #expect(CaptureText.encode([capture], secret: false) == nil)
  }

  @Test(arguments: [
    "", "{", "{}", #"{"a"}"#, #"{"a":"b""#, #"{"a":"b"}x"#, #"{"a":"\x"}"#, #"{"a":"\u00"}"#,
    #"{"a":"\ud800"}"#,
  ])
  func anyOtherTextIsRefused(_ text: String) {
    #expect(CaptureText.decode(text, secret: false) == nil)
  }

  /// A launch reads the captures of all open items first.
  @Test func longCapturesAreReadQuickly() throws {
    let value = String(repeating: "0123456789abcde\n", count: 1 << 16)
    let time = try ThreadTime.measure {
      for _ in 0..<8 {
        let text = CaptureText.encode([.init(name: "id", value: value, isSecret: false)], secret: false)
        _ = try #require(CaptureText.decode(text, secret: false))
      }
    }
    #expect(time < .seconds(8), "\(time)")
  }
}
