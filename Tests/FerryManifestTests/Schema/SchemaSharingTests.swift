import FerryManifest
import Testing

/// A manifest that takes something from elsewhere need not be whole.
///
/// The mapping at the top is given the keys here, so that the schema of each kind is looked at on its own.
@Suite(
  .enabled(if: SchemaValidator.python != nil, "python3 and its jsonschema are needed: scripts/setup test"))
struct `The JSON schema of a manifest that shares` {
  private func validator() throws -> SchemaValidator {
    var top = try #require(ManifestReference.objects().first)
    top.keys.removeAll { ["include", "defaults"].contains($0.name) }
    let plain = try #require(top.keys.first { !$0.isRequired })
    func form(of name: String) throws -> ValueForm {
      try #require(top.keys.first { $0.name == name }?.form.objects.first.map(ValueForm.object))
    }
    var common = top
    common.title = "Defaults"
    common.rules = []
    common.keys = try ["sessions", "uploads", "requests"].map { name in
      var key = plain
      key.name = name
      key.form = try form(of: name)
      return key
    }
    var include = plain
    include.name = "include"
    include.form = .list(.text(what: "path", references: false))
    var defaults = plain
    defaults.name = "defaults"
    defaults.form = .object(common)
    top.keys += [include, defaults]
    return SchemaValidator(schema: ManifestSchema(top: top).json)
  }

  private static let parts = [
    "requests: { done: {} }", "secrets: { a: {} }", "uploads: { photos: { transfer: {} } }",
    "uploads: { photos: { files: { null: true } } }", "tokens: { login: { capture: { a: {} } } }",
  ]

  private func refusals(of texts: [String]) throws -> [String] {
    let documents = try texts.map { text in
      SchemaValidator.Document(name: text, value: try #require(OrderedJSON(yaml: text)))
    }
    let refused = try validator().refusals(of: documents)
    return texts.filter { refused[$0] != nil }
  }

  @Test func `lets keys be absent beside 'include' or 'defaults'`() throws {
    let shared = Self.parts.flatMap { part in
      ["include: [a.yaml]\n\(part)", "defaults: { requests: { session: quick } }\n\(part)"].map {
        $0.replacing("\n", with: "\nversion: 1\n")
      }
    }
    #expect(try refusals(of: shared) == [])
  }

  @Test func `wants them where nothing is shared`() throws {
    let whole = Self.parts.map { "version: 1\nname: photos\n" + $0 } + ["version: 1"]
    #expect(try refusals(of: whole) == whole)
  }

  @Test func `wants no key inside 'defaults'`() throws {
    let head = "version: 1\nname: photos\n"
    #expect(
      try refusals(of: [
        head + "defaults: { uploads: { transfer: { request: { method: PUT } } } }",
        head + "defaults: { uploads: { commit: { probe: {} } } }",
      ]) == [])
  }

  @Test func `refuses what is wrong in any case`() throws {
    let head = "version: 1\nname: photos\ninclude: [a.yaml]\n"
    let wrong = [
      "uploads: { photos: { speed: 5 } }", "requests: { done: { request: { form: {}, json: {} } } }",
      "secrets: { a: { env: A, file: b } }", "defaults: { name: x }",
      "defaults: { uploads: { retry: { limit: often } } }",
    ].map { head + $0 }
    #expect(try refusals(of: wrong) == wrong)
  }
}
