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
