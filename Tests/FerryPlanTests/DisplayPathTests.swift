import FerryDigest
import FerryPlan
import Testing

struct NameTextTests {
  @Test(arguments: [
    ("a/b c.txt", "a/b c.txt"), ("grün-שלום-👨‍👩‍👧.jpg", "grün-שלום-👨‍👩‍👧.jpg"), ("it's", "it's"),
    ("a\nb", #""a\nb""#), ("a\tb\r", #""a\tb\r""#), ("\u{1B}[31mred", #""\033[31mred""#),
    ("a\u{7F}", #""a\177""#), ("a\u{85}", #""a\302\205""#), ("a\"b", #""a\"b""#), (#"C:\a"#, #""C:\\a""#),
    ("a\u{202E}gpj.exe", #""a\342\200\256gpj.exe""#), ("\u{FEFF}a\u{200B}", #""\357\273\277a\342\200\213""#),
    ("a\u{34F}\u{17B4}", #""a\315\217\341\236\264""#), ("\u{2800}", #""\342\240\200""#),
    ("a\u{E0100}", #""a\363\240\204\200""#), ("a\u{180B}\u{FE00}", #""a\341\240\213\357\270\200""#),
    ("\u{3164}\u{115F}", #""\343\205\244\341\205\237""#), ("❤\u{FE0F} e\u{301}", "❤\u{FE0F} e\u{301}"),
    ("a\u{2028}b", #""a\342\200\250b""#), ("\u{7}\u{8}\u{B}\u{C}\u{0}", #""\a\b\v\f\000""#), ("", ""),
    ("::error::a", "\"::error::a\""), (" ::a", "\" ::a\""), ("a::b", "a::b"), (":a", ":a"),
  ])
  func aNameIsQuotedAsGitDoes(name: String, shown: String) {
    #expect(DisplayPath.shown(name.utf8) == shown)
    #expect(DisplayPath.shown(name) == shown)
  }

  @Test(
    arguments: [
      ([0x61, 0xFF], #""a\377""#), ([0xC3, 0xBC, 0xFC], #""ü\374""#), ([0x61, 0xE2, 0x82], #""a\342\202""#),
      ([0xC0, 0xAF], #""\300\257""#), ([0xED, 0xA0, 0x80], #""\355\240\200""#),
    ] as [([UInt8], String)])
  func aNameThatIsNotUTF8IsShownByItsBytes(name: [UInt8], shown: String) {
    #expect(DisplayPath.shown(name) == shown)
    #expect(DisplayPath.shown(String(decoding: name, as: UTF8.self), base64: Base64.encode(name)) == shown)
  }

  @Test func aDisplayedPathIsReadBack() {
    for name in [[], Array("ü b".utf8), [0x22], [0x5C, 0x6E], [0x61, 0xFF, 0x30], Array(0...255)] as [[UInt8]]
    {
      let shown = Array(DisplayPath.shown(name).utf8)
      #expect(DisplayPath.read(shown) ?? shown == name)
    }
  }

  @Test(arguments: [
    "", "a", "\"", "\"a", "a\"", #""a"b""#, #""a\""#, #""\"#, #""\x41""#, #""\41""#, #""\400""#, #""\8""#,
  ])
  func unquotedTextIsNotRead(text: String) { #expect(DisplayPath.read(text.utf8) == nil) }

  @Test func aMessageStaysOnOneLine() {
    #expect(DisplayPath.line(#""a\nb": gone"#) == #""a\nb": gone"#)
    #expect(DisplayPath.line("x\r\n\u{1B}]0;title\u{7}") == #"x\r\n\033]0;title\a"#)
  }
}
