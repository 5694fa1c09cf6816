import Foundation
import Testing

/// A file name that programs handle incorrectly if they treat names as text, and the reason.
struct HostileName: Sendable, CustomTestStringConvertible {
  var what: String
  var bytes: [UInt8]
  /// Whether Swift's strings, and therefore the receiver's listing, treat the name as equal to another name.
  var isRespelled = false

  var testDescription: String { what }
  /// The name as text; `nil` if it is not valid UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }
  /// The name in a URL: all bytes are percent-encoded except slashes and RFC 3986's unreserved characters.
  var encoded: String {
    bytes.map { byte in
      let letter = Character(UnicodeScalar(byte))
      let stands = byte < 0x80 && (letter.isLetter || letter.isNumber || "-._~/".contains(letter))
      return stands ? String(letter) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
  /// The file's content.
  var content: Data { Data(what.utf8) + Data(bytes) }

  init(_ what: String, _ name: String, isRespelled: Bool = false) {
    self.init(what, Array(name.utf8), isRespelled: isRespelled)
  }

  init(_ what: String, _ bytes: [UInt8], isRespelled: Bool = false) {
    self.what = what
    self.bytes = bytes
    self.isRespelled = isRespelled
  }

  static let all: [HostileName] = [
    .init("a space", "a b"),
    .init("a space at the beginning", " a"),
    .init("a space at the end", "a "),
    .init("a space alone", " "),
    .init("a tab", "a\tb"),
    .init("a newline", "a\nb"),
    .init("a newline at the end", "a\n"),
    .init("a carriage return", "a\rb"),
    .init("a line of HTTP", "a HTTP/1.1\r\nX-Injected: yes\r\n\r\n".replacing("/", with: "_")),
    .init("a double quote", "a\"b"),
    .init("a single quote", "a'b"),
    .init("a single quote with a combining mark", "a'\u{301};touch pwned;echo '\u{301}b"),
    .init("a combining mark at the beginning", "\u{301}a"),
    .init("a percent sign with a combining mark", "100%\u{301}"),
    .init("a backquote", "a`id`b"),
    .init("shell metacharacters", "$(id);|&><*?"),
    .init("a percent sign", "100%"),
    .init("a percent escape", "a%41b"),
    .init("an escaped slash", "a%2Fb"),
    .init("escaped dots", "%2e%2e"),
    .init("an escaped NUL", "a%00b"),
    .init("a question mark", "a?b=c"),
    .init("a hash", "a#b"),
    .init("a plus and an ampersand", "a+b&c=d"),
    .init("a semicolon and a comma", "a;b,c"),
    .init("a colon", "http:a"),
    .init("an at sign", "user@host"),
    .init("glob brackets", "[a]{b,c}*"),
    .init("a manifest reference", "${file.path}"),
    .init("a backslash", "a\\b"),
    .init("a backslash at the end", "a\\"),
    .init("a Windows path", "C:\\a\\..\\b"),
    .init("a leading dash", "-rf"),
    .init("two leading dashes", "--help"),
    .init("a dash alone", "-"),
    .init("a leading dot", ".a"),
    .init("a trailing dot", "a."),
    .init("two leading dots", "..a"),
    .init("three dots", "..."),
    .init("a folder of four dots", "..../..a/b.."),
    .init("a tilde", "~"),
    .init("a device name", "CON"),
    .init("a terminal escape sequence", "a\u{1B}[31mb"),
    .init("a bell and a backspace", "a\u{07}\u{08}b"),
    .init("DEL and C1", "a\u{7F}\u{85}b"),
    .init("255 bytes", String(repeating: "x", count: 255)),
    .init("255 bytes in UTF-8", String(repeating: "é", count: 127) + "x"),
    .init("emoji with joiners", "👨‍👩‍👧‍👦🏴‍☠️"),
    .init("a combining accent", "cafe\u{301}", isRespelled: true),
    .init("the same, precomposed", "caf\u{E9}", isRespelled: true),
    .init("right to left", "שלום-مرحبا"),
    .init("a right-to-left override", "a\u{202E}gpj.exe"),
    .init("a zero-width space and a BOM", "\u{FEFF}a\u{200B}b", isRespelled: true),
    .init("a Unicode noncharacter", "a\u{FFFF}b"),
    .init("a byte that is not valid UTF-8", [0x61, 0xFF]),
    .init("Latin-1", [0x67, 0x72, 0xFC, 0xDF, 0x65]),
    .init("truncated UTF-8", [0x61, 0xE2, 0x82]),
    .init("an overlong slash", [0x61, 0xC0, 0xAF, 0x62]),
    .init("a surrogate in UTF-8", [0xED, 0xA0, 0x80]),
  ]
}
