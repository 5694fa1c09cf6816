import FerryManifest
import Foundation
import Testing

/// The schema accepts every manifest that the reader accepts.
@Suite(
  .enabled(if: SchemaValidator.python != nil, "python3 and its jsonschema are needed: scripts/setup test"),
  .timeLimit(.minutes(5)))
struct `The JSON schema and the reader` {
  private let validator = SchemaValidator(schema: ManifestSchema().json)

  /// The invalid manifests that only the reader rejects, because a schema cannot express their mistakes.
  private static let beyondTheSchema = [
    "Golden/captures-and-templates", "Golden/cycle", "Golden/duplicate-key", "Golden/include-clash",
    "Golden/invalid-utf8",
    "Golden/references-out-of-place", "Golden/unresolved-names", "bad/reader-apply", "bad/reader-bounds",
    "bad/reader-cycle",
    "bad/reader-form-field",
    "bad/reader-form-put", "bad/reader-include",
    "bad/reader-oauth2", "bad/reader-reference", "bad/reader-unknown-session", "bad/reader-url",
  ]

  private func documents(_ entries: [Corpus.Entry]) -> [SchemaValidator.Document] {
    entries.compactMap { entry in
      Corpus.json(of: entry.text).map { SchemaValidator.Document(name: entry.name, value: $0) }
    }
  }

  @Test func `accept all valid manifests here`() throws {
    let good = try Corpus(
      of: Corpus.folder.appending(path: "Agreement/good"),
      Corpus.folder.appending(path: "Agreement/good-apart"), Corpus.folder.appending(path: "Whole"),
      Corpus.package.appending(path: "jobs"), Corpus.package.appending(path: "examples"))
    #expect(good.entries.count >= 50)
    for entry in good.entries {
      let mistakes = Corpus.reading(of: entry.text).diagnostics.filter { $0.severity == .error }
      #expect(mistakes == [], "\(entry.name)")
    }
    let documents = documents(good.entries)
    #expect(documents.count == good.entries.count)
    #expect(try validator.refusals(of: documents) == [:])
  }

  @Test func `reject invalid manifests, of which the schema accepts only a known few`() throws {
    let entries = try Corpus.bad().entries
    for entry in entries { #expect(Corpus.reading(of: entry.text).manifest == nil, "\(entry.name)") }
    let documents = documents(entries)
    let refused = try Set(validator.refusals(of: documents).keys)
    #expect(Set(documents.map(\.name)).subtracting(refused).sorted() == Self.beyondTheSchema)
    #expect(refused.count >= 50)
  }

  @Test func `agree about thousands of randomly changed manifests`() throws {
    var mutator = ManifestMutator(documents(try Corpus.good().entries).map(\.value), seed: 1)
    var accepted: [SchemaValidator.Document] = []
    for _ in 0..<6_000 {
      let text = mutator.next().line
      guard Corpus.reading(of: text).manifest != nil, let value = Corpus.json(of: text) else { continue }
      accepted.append(.init(name: "\(accepted.count) \(text)", value: value))
    }
    #expect(accepted.count >= 2_000)
    #expect(try validator.refusals(of: accepted) == [:])
  }

  @Test func `agree about every default and every example that a key declares`() throws {
    var documents: [SchemaValidator.Document] = []
    for object in ManifestReference.objects() {
      for key in object.keys {
        let definition = ManifestSchema.definitionName(ofTitle: object.title)
        var texts = [key.example].compactMap(\.self)
        for profile in Profile.allCases {
          if case .value(let text)? = key.fallback(in: profile) { texts.append(text) }
        }
        for text in texts {
          let value = try #require(OrderedJSON(yaml: text), "\(object.title).\(key.name): \(text)")
          documents.append(
            .init(
              name: "\(object.title).\(key.name): \(text)", value: value,
              pointer: "#/definitions/\(definition)/properties/\(key.name)"))
        }
      }
    }
    #expect(documents.count >= 150)
    #expect(try validator.refusals(of: documents) == [:])
  }
}

@Suite struct `The small good manifests` {
  @Test func `use every key, every word and every form of the language`() throws {
    let good = try Corpus.good()
    var coverage = LanguageCoverage()
    for entry in good.entries {
      #expect(Corpus.reading(of: entry.text).manifest != nil, "\(entry.name)")
      if let json = Corpus.json(of: entry.text) { coverage.add(json) }
    }
    #expect(LanguageCoverage.everything().filter { !coverage.used.contains($0) } == [])
    #expect(good.entries.count >= 30)
  }
}
