import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine

/// How captures are printed.
struct CapturedValueTests {
  @Test(arguments: [
    ("http://bob:hunter2@h/up/7?x#y", "http://***@h/up/7?x#y"), ("//bob@h/x", "//***@h/x"),
    ("http://h/a@b", "http://h/a@b"), ("bob@example.com", "bob@example.com"), ("", ""), ("7", "7"),
  ])
  func aURLIsShownWithoutItsUserName(value: String, shown: String) {
    #expect(CapturedValue(name: "u", value: value, isSecret: false).shown == shown)
    #expect(CapturedValue(name: "u", value: value, isSecret: true).shown == "***")
  }

  @Test func aSecretOneIsNotPrinted() {
    let capture = CapturedValue(name: "key", value: "hunter2", isSecret: true)
    var dumped = ""
    dump(capture, to: &dumped)
    dump([capture.bound], to: &dumped)
    let texts = ["\(capture)", "\([capture])", String(reflecting: capture), "\(capture.bound)", dumped]
    for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
  }
}
