import FerryEngine
import FerryPlan
import Testing

struct IdempotencyKeyTests {
  private let key = IdempotencyKey(
    manifest: "photos", upload: "pictures", origin: "https://example.com", path: Array("2026/a.jpg".utf8),
    size: 1234, modified: 1_600_000_000_000_000_000,
    captures: [
      CapturedValue(name: "id", value: "42", isSecret: false),
      CapturedValue(name: "expires_in", value: "60", isSecret: true),
    ])

  /// The keys were computed by Python's hashlib from the fields in docs/delivery.md.
  @Test func isTheDocumentedUUID() {
    #expect(key.text == "836b2dd7-0ce7-801c-8700-00e1c5ef340e")
    var round = key
    round.captures = []
    round.round = 7
    #expect(round.text == "43bbe91e-3cda-8b21-801b-c762e121f22c")
  }

  @Test func comesFromTheSameFieldsInAnyOrderOfCaptures() {
    var other = key
    other.captures.reverse()
    #expect(other.text == key.text)
  }

  @Test func changesWithAnyField() {
    func changed(_ change: (inout IdempotencyKey) -> Void) -> String {
      var other = key
      change(&other)
      return other.text
    }
    let texts: [String] = [
      key.text, changed { $0.manifest = "photo" }, changed { $0.upload = "picture" },
      changed { $0.origin = "https://example.org" }, changed { $0.path = Array("2026/b.jpg".utf8) },
      changed { $0.size = 1235 }, changed { $0.modified += 1 }, changed { $0.captures[0].value = "43" },
      changed { $0.captures.removeLast() }, changed { $0.round = 1 }, changed { $0.round = 2 },
      changed { $0.sha256 = [UInt8](repeating: 1, count: 32) },
      changed { $0.sha256 = [UInt8](repeating: 2, count: 32) },
      // Moving bytes from the end of one field to the beginning of the next changes the key.
      changed { ($0.manifest, $0.upload) = ("photosp", "ictures") },
    ]
    #expect(Set(texts).count == texts.count)
  }
}
