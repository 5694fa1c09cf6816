import FerryManifest
import Testing

/// A manifest that includes other files, or has defaults, may be incomplete.
@Suite(
  .enabled(if: SchemaValidator.python != nil, "python3 and its jsonschema are needed: scripts/setup test"))
struct `The JSON schema of a manifest that shares` {
  private static let parts = [
    "requests: { done: {} }", "secrets: { a: {} }", "uploads: { photos: { transfer: {} } }",
    "uploads: { photos: { files: { null: true } } }", "tokens: { login: { capture: { a: {} } } }",
  ]

  private func refusals(of texts: [String]) throws -> [String] {
    let documents = try texts.map { text in
      SchemaValidator.Document(name: text, value: try #require(OrderedJSON(yaml: text)))
    }
    let refused = try SchemaValidator(schema: ManifestSchema().json).refusals(of: documents)
    return texts.filter { refused[$0] != nil }
  }

  @Test func `lets keys be absent together with 'include' or 'defaults'`() throws {
    let shared = Self.parts.flatMap { part in
      ["include: [a.yaml]\n\(part)", "defaults: { requests: { session: quick } }\n\(part)"].map {
        $0.replacing("\n", with: "\nversion: 1\n")
      }
    }
    #expect(try refusals(of: shared) == [])
  }

  @Test func `requires them if nothing is shared`() throws {
    let whole = Self.parts.map { "version: 1\nname: photos\n" + $0 } + ["version: 1"]
    #expect(try refusals(of: whole) == whole)
  }

  @Test func `requires no key inside 'defaults'`() throws {
    let head = "version: 1\nname: photos\n"
    #expect(
      try refusals(of: [
        head + "defaults: { uploads: { transfer: { request: { method: PUT } } } }",
        head + "defaults: { uploads: { commit: { probe: {} } } }",
      ]) == [])
  }

  @Test func `rejects manifests that are invalid in any case`() throws {
    let head = "version: 1\nname: photos\ninclude: [a.yaml]\n"
    let wrong = [
      "uploads: { photos: { speed: 5 } }", "requests: { done: { request: { form: {}, json: {} } } }",
      "secrets: { a: { env: A, file: b } }", "defaults: { name: x }",
      "defaults: { uploads: { retry: { limit: often } } }",
    ].map { head + $0 }
    #expect(try refusals(of: wrong) == wrong)
  }
}
