import FerryReport
import Foundation
import Testing

@testable import FerryEngine

@Suite struct PrintableJSONTests {
  private func escaped(_ text: String) -> String {
    String(decoding: PrintableJSON.escaping(text.utf8), as: UTF8.self)
  }

  @Test func controlCharactersAreEscaped() {
    #expect(escaped("\"a\u{7f}b\u{9b}31m\"") == #""a\u007Fb\u009B31m""#)
    #expect(escaped("\u{80}\u{9f}\u{a0}") == "\\u0080\\u009F\u{a0}")
    #expect(escaped("\u{61c}\u{61d}") == "\\u061C\u{61d}")
    #expect(
      escaped("\u{200d}\u{200e}\u{200f}\u{2010}\u{2028}\u{202e}\u{202f}\u{2066}\u{2069}\u{206a}")
        == "\u{200d}\\u200E\\u200F\u{2010}\\u2028\\u202E\u{202f}\\u2066\\u2069\u{206a}")
  }

  @Test func allOtherTextIsUnchanged() throws {
    for code in (0x20...0x3000).filter({ !(0xD800...0xDFFF).contains($0) }) {
      let scalar = try #require(Unicode.Scalar(UInt32(code)))
      let text = escaped(String(scalar))
      // A JSON reader reads the same text.
      guard text.hasPrefix("\\u") else {
        #expect(text == String(scalar))
        continue
      }
      let value = try JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))
      #expect(value == String(scalar))
    }
  }

  @Test(
    arguments: [
      [0xC2], [0xE2], [0xE2, 0x80], [0xD8], [0x22, 0xE2, 0x22], [0xC2, 0xC2, 0x9B], [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func bytesThatAreNotUTF8CauseNoCrash(bytes: [UInt8]) {
    let text = PrintableJSON.escaping(bytes)
    #expect(text == bytes || text == [0xC2] + Array("\\u009B".utf8))
  }
}
