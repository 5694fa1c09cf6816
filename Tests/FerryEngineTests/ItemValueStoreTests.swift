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

  @Test func aSecretIsMaskedWhileAnItemHasItAndAfterwards() {
    let other = ItemRef(NodeID(0), 2)
    let store = ItemValueStore([Self.item: values("long-secret"), other: values("long-secret")], secrets: [])
    store.forget(other)
    #expect(store.masked("short") == "short")
    #expect(store.masked("it is long-secret") == "it is ***")
    store.update(other) { $0 = values("long-secret", "second") }
    store.forget(Self.item)
    #expect(store.masked("it is long-secret, second") == "it is ***, ***")
    store.forget(other)
    #expect(store.masked("it is long-secret, second") == "it is ***, ***")
    #expect(store.maskedInUse("it is long-secret, second") == "it is long-secret, second")
  }

  @Test func aSecretThatWasReplacedIsMasked() {
    let store = ItemValueStore([Self.item: values("first-secret")], secrets: [])
    store.update(Self.item) { $0 = values("second-secret") }
    #expect(store.masked("first-secret, second-secret") == "***, ***")
  }

  @Test func theSecretsOfAnAmbiguousItemAreMaskedHoweverManyItemsEndAfterIt() {
    let store = ItemValueStore([Self.item: values("its-secret")], secrets: [], retiredSecrets: 10)
    store.forget(Self.item, keepsSecrets: true)
    for index in 0..<50 {
      let other = ItemRef(NodeID(1), index)
      store.update(other) { $0 = values("secret \(index)!") }
      store.forget(other)
    }
    #expect(store.masked("its-secret, secret 49!, secret 40!") == "***, ***, ***")
    #expect(store.masked("secret 0!") == "secret 0!")
  }

  /// A server that rejects each token soon determines how many there are.
  @Test func theNumberOfTokensInUseIsLimited() {
    let store = ItemValueStore([:], secrets: [SensitiveValue("key of the manifest")])
    store.keepSecret("token of another node", ofToken: 1)
    for index in 0..<1000 {
      for _ in 0..<2 { store.keepSecret("token number \(index)!", ofToken: 0) }
    }
    #expect(store.lasting.count == 202)
    let text = "token number 0!, token number 999!, key of the manifest, token of another node"
    #expect(store.masked(text) == "***, ***, ***, ***")
    // A capture with an old token is still secret.
    #expect(store.lasting.mask("the token number 0!", .wholeSecrets) == "the ***")
    let large = String(repeating: "x", count: 100_000)
    for index in 0..<30 { store.keepSecret("\(large)\(index)", ofToken: 2) }
    #expect(store.lasting.count == 202 + 16)
  }

  @Test func theSecretsOfTheWorkAreMaskedInTheRequestsThatFollow() {
    let other = ItemRef(NodeID(0), 2)
    let work = ItemValueStore(
      [Self.item: values("open-secret"), other: values("ended-secret")],
      secrets: [SensitiveValue("key of work")], filters: [[.base64, .base64]])
    work.forget(other)
    work.keepSecret("token of work")
    let store = ItemValueStore([:], secrets: [SensitiveValue("own key")], filters: [[.lower]], after: work)
    #expect(store[Self.item] == nil)
    let text = "open-secret, ended-secret, key of work, token of work, own key"
    #expect(store.masked(text) == "***, ***, ***, ***, ***")
    #expect(store.masked("YTJWNUlHOW1JSGR2Y21zPQ==") == "***")
    let cut = store.maskedBeginning(6, of: Array("a open-secret".utf8), isCut: false)
    #expect(cut == Array("a ***".utf8))
    #expect(work.masked("own key") == "own key")
  }

  /// Wherever the text is truncated, its end contains no part of a secret.
  @Test func aSecretIsMaskedBeforeATextIsCut() {
    let secret = "hunter2-hunter3"
    let escaped = secret.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
    for form in [secret, "hunter2%2Dhunter3", "aHVudGVyMi1odW50ZXIz", escaped] {
      for start in 0...110 {
        let text = Array((String(repeating: ".", count: start) + form + "!").utf8)
        for length in [text.count, text.count - 2, text.count - form.utf8.count / 2] {
          let store = ItemValueStore([:], secrets: [SensitiveValue(secret)])
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
    let store = ItemValueStore([Self.item: values(long)], secrets: [])
    #expect(store.maskedBeginning(100, of: Array(long.utf8), isCut: false) == [])
    #expect(store.maskedBeginning(100, of: Array("a short text".utf8), isCut: true) == [])
    #expect(
      store.maskedBeginning(100, of: Array("a short text".utf8), isCut: false) == Array("a short text".utf8))
  }

  /// The lowercase form of U+212A (Kelvin sign, 3 bytes) is `k` (1 byte).
  @Test func aTextThatIsShorterThanTheSecretMayContainItsLowerCase() {
    let store = ItemValueStore([Self.item: values("\u{212A}\u{212A}\u{212A}\u{212A}")], secrets: [])
    #expect(store.masked("kkkk") == "***")
  }

  /// A server may send secrets of 64 KiB for thousands of items.
  @Test func aLongSecretIsSearchedForOnlyInTextsThatMayContainIt() {
    let store = ItemValueStore([:], secrets: [])
    for item in 0..<200 {
      store.update(ItemRef(NodeID(0), item)) { $0 = values(String(repeating: "s\(item)", count: 20_000)) }
      _ = store.masked("the server responded with 500 to POST")
    }
    // Adding a secret to the mask takes time proportional to its length, so a secret that is longer than every text
    // so far is not added.
    #expect(store.mask.count == 0)
    let text = String(repeating: "s", count: 20_000)
    let one = ItemValueStore([Self.item: values(text)], secrets: [])
    #expect(one.mask.count == 0)
    #expect(one.masked("x \(text) y") == "x *** y")
    #expect(one.mask.count == 1)
  }

  @Test func thePartsOfAURLAreMaskedInTextsThatAreShorterThanTheURL() {
    let url = "https://storage.example.org/\(String(repeating: "long/", count: 50))?sig=S1gnature"
    let store = ItemValueStore([Self.item: values(url)], secrets: [])
    #expect(store.maskedInUse("https://S1gnature.example.org") == "https://S1gnature.example.org")
    #expect(store.mask.count == 0)
    #expect(store.masked("S1gnature") == "***")
    store.forget(Self.item)
    #expect(store.masked("S1gnature") == "***")
  }

  @Test func someTextsAreMaskedInOneText() {
    let store = ItemValueStore([:], secrets: [])
    let body = Array("bad signature S1gnature%2f42, try again".utf8)
    let hidden = SecretURLParts.queryValues(of: "http://x.org/a?b=c&sig=S1gnature%2F42")
    #expect(
      store.maskedBeginning(100, of: body, isCut: false, hiding: hidden)
        == Array("bad signature ***, try again".utf8))
    #expect(store.masked("S1gnature%2F42", hiding: hidden) == "***")
    #expect(store.maskedBeginning(100, of: Array(body.prefix(16)), isCut: true, hiding: hidden) == [])
  }

  @Test func `limits the captures of the open items of an upload`() {
    func captured(_ size: Int) -> ItemValues {
      var values = ItemValues()
      values.allocate = [
        CapturedValue(name: "id", value: String(repeating: "x", count: size), isSecret: false)
      ]
      return values
    }
    let half = captured(ItemValueStore.mostCaptureBytes / 2)
    let (second, third) = (ItemRef(NodeID(0), 2), ItemRef(NodeID(0), 3))
    let store = ItemValueStore([Self.item: half], secrets: [])
    func hasRoom(_ size: Int, _ ref: ItemRef) -> Bool {
      (try? store.checkRoom(for: captured(size).allocate, of: ref)) != nil
    }
    store.update(second) { $0 = half }
    #expect(!hasRoom(1, third))
    // Each upload has its own limit.
    #expect(hasRoom(1, ItemRef(NodeID(1), 0)))
    store.update(second) { $0 = captured(1) }
    #expect(hasRoom(1, third) && !hasRoom(ItemValueStore.mostCaptureBytes / 2, third))
    store.forget(Self.item)
    #expect(hasRoom(ItemValueStore.mostCaptureBytes - 1, third))
  }
}
