import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine

struct ItemValueStoreTests {
  private static let item = ItemRef(NodeID(0), 1)

  private func values(_ secrets: String...) -> ItemValues {
    var values = ItemValues()
    values.allocate = secrets.map { CapturedValue(name: "id", value: $0, isSecret: true) }
    return values
  }

  @Test func aSecretIsMaskedWhileAnItemHasIt() {
    let other = ItemRef(NodeID(0), 2)
    var store = ItemValueStore([Self.item: values("long-secret"), other: values("long-secret")], secrets: [])
    store.forget(other)
    #expect(store.masked("short") == "short")
    #expect(store.masked("it is long-secret") == "it is ***")
    store.update(other) { $0 = values("long-secret", "second") }
    store.forget(Self.item)
    #expect(store.masked("it is long-secret, second") == "it is ***, ***")
    store.forget(other)
    #expect(store.masked("it is long-secret, second") == "it is long-secret, second")
  }

  /// Wherever a text is cut, no part of a secret remains at its end.
  @Test func aSecretIsMaskedBeforeATextIsCut() {
    let secret = "hunter2-hunter3"
    let escaped = secret.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
    for form in [secret, "hunter2%2Dhunter3", "aHVudGVyMi1odW50ZXIz", escaped] {
      for start in 0...110 {
        let text = Array((String(repeating: ".", count: start) + form + "!").utf8)
        for length in [text.count, text.count - 2, text.count - form.utf8.count / 2] {
          var store = ItemValueStore([:], secrets: [SensitiveValue(secret)])
          let shown = store.maskedBeginning(100, of: Array(text.prefix(length)), isCut: length < text.count)
          let isClean = shown.allSatisfy {
            [UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: "!")].contains($0)
          }
          #expect(isClean, "\(String(decoding: shown, as: UTF8.self))")
          if length == text.count, start < 100 {
            #expect(shown.starts(with: Array((String(repeating: ".", count: start) + "***").utf8)))
          }
        }
      }
    }
  }

  @Test func nothingIsShownOfATextThatIsCutIfASecretMayBeLonger() {
    let long = String(repeating: "s3cret", count: 12_000)
    var store = ItemValueStore([Self.item: values(long)], secrets: [])
    #expect(store.maskedBeginning(100, of: Array(long.utf8), isCut: false) == [])
    #expect(store.maskedBeginning(100, of: Array("a short text".utf8), isCut: true) == [])
    #expect(
      store.maskedBeginning(100, of: Array("a short text".utf8), isCut: false) == Array("a short text".utf8))
  }

  /// The lower case of U+212A (Kelvin sign, 3 bytes) is a `k` (1 byte).
  @Test func aTextThatIsShorterThanTheSecretMayContainItsLowerCase() {
    var store = ItemValueStore([Self.item: values("\u{212A}\u{212A}\u{212A}\u{212A}")], secrets: [])
    #expect(store.masked("kkkk") == "***")
  }

  /// A server may send secrets of 64 KiB for thousands of items.
  @Test func aLongSecretIsMaskedQuickly() {
    let time = ContinuousClock().measure {
      var store = ItemValueStore([:], secrets: [])
      for item in 0..<200 {
        store.update(ItemRef(NodeID(0), item)) { $0 = values(String(repeating: "s\(item)", count: 20_000)) }
        _ = store.masked("the server responded with 500 to POST")
      }
    }
    #expect(time < .seconds(2), "\(time)")
  }
}
