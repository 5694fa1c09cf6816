import FerryManifest
import Foundation
import Testing

@Suite struct `The JSON schema` {
  @Test func `is generated from the declarations`() throws {
    try expectRecorded(
      ManifestSchema.json(), at: Corpus.package.appending(path: "docs/manifest.schema.json"))
  }

  @Test func `has one definition for all mappings of a title`() {
    var keys: [String: [String]] = [:]
    func add(_ object: ObjectForm) {
      let names = object.keys.map { "\($0.name): \($0.form) \($0.isRequired)" } + ["\(object.rules)"]
      #expect(keys[object.title] == nil || keys[object.title] == names, "\(object.title)")
      keys[object.title] = names
      object.keys.flatMap(\.form.objects).forEach(add)
    }
    ManifestReference.objects().prefix(1).forEach(add)
    #expect(keys.count == ManifestReference.objects().count)
    let definitions = Set(keys.keys.map(ManifestSchema.definitionName(ofTitle:)))
    #expect(definitions.count == keys.count)
  }

  @Test func `can read every example that a key declares`() {
    for object in ManifestReference.objects() {
      for key in object.keys {
        guard let example = key.example else { continue }
        #expect(OrderedJSON(yaml: example) != nil, "\(object.title).\(key.name)")
      }
    }
  }

  @Test func `is text on lines of some width, with members in their order`() {
    let value = OrderedJSON.object([
      .init("b", .array([.null, .bool(true), .integer(-1), .number(0.5), .number(.infinity)])),
      .init("a", .string("\"\\\u{1}\n\u{2028}é/")),
      .init(
        "long",
        .array([.string(String(repeating: "x", count: 60)), .string(String(repeating: "y", count: 60))])),
      .init("empty", .object([])),
    ])
    #expect(
      value.pretty == """
        {
          "b": [null, true, -1, 0.5, 1e999],
          "a": "\\"\\\\\\u0001\\n\\u2028é/",
          "long": [
            "\(String(repeating: "x", count: 60))",
            "\(String(repeating: "y", count: 60))"
          ],
          "empty": {}
        }

        """)
    #expect(OrderedJSON(yaml: value.line) == value)
  }
}
