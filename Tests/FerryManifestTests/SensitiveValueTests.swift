import Testing

@testable import FerryManifest

struct SensitiveValueTests {
  private struct Holder {
    var name = "holder"
    var secret = SensitiveValue("hunter2")
  }

  @Test func isPrintedAsAsterisksAlsoWithinOtherValues() {
    let value = SensitiveValue("hunter2")
    var dumped = ""
    dump(value, to: &dumped)
    dump(Holder(), to: &dumped)
    dump(["key": [value]], to: &dumped)
    let texts = [
      "\(value)", String(describing: value), String(reflecting: value), "\([value])", "\(Holder())",
      String(reflecting: Holder()), "\(Optional(value) as Any)", dumped,
    ]
    for text in texts {
      #expect(!text.contains("hunter2"), "\(text)")
      #expect(text.contains("***"), "\(text)")
    }
    #expect(value.revealed == "hunter2")
  }
}
