import FerryManifest
import Testing

/// A manifest, and the result of reading its effective text.
struct EffectiveReading {
  let file: String
  let environment: [String: String]
  let first: ManifestReading
  let text: String
  let second: ManifestReading

  init(
    _ text: String, file: String = "m.yaml", environment: [String: String] = [:],
    variables: [String: String] = [:], files: ManifestFiles = .none
  ) throws {
    self.file = file
    self.environment = environment
    let reader = ManifestReader(environment: environment, variables: variables, files: files)
    first = reader.read(Array(text.utf8), file: file)
    let mistakes = first.diagnostics.filter { $0.severity == .error }.map { "\($0.location) \($0.message)" }
    #expect(mistakes == [])
    self.text = try Self.effective(first).yaml()
    second = reader.read(Array(self.text.utf8), file: file)
  }

  static func effective(_ reading: ManifestReading) throws -> EffectiveManifest {
    EffectiveManifest(try #require(reading.root), in: try #require(reading.manifest).profile)
  }

  /// Checks that the effective text has the same meaning, causes no new diagnostics, and does not change when it is
  /// made effective again.
  func expectSame(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    let mistakes = second.diagnostics.filter { $0.severity == .error }.map { "\($0.location) \($0.message)" }
    try #require(mistakes == [], "\(text)", sourceLocation: sourceLocation)
    #expect(second.manifest == first.manifest, sourceLocation: sourceLocation)
    let known = Set(first.diagnostics.map(\.message))
    let new = second.diagnostics.filter { !known.contains($0.message) }
    #expect(new.isEmpty, "\(new)", sourceLocation: sourceLocation)
    let again = try Self.effective(second).yaml()
    #expect(Self.withoutOrigins(again) == Self.withoutOrigins(text), sourceLocation: sourceLocation)
  }

  private static func withoutOrigins(_ text: String) -> [Substring] {
    text.split(separator: "\n").map { line in
      guard let comment = line.ranges(of: "  # ").last else { return line }
      let rest = line[..<comment.lowerBound]
      return rest.lastIndex { $0 != " " }.map { rest[...$0] } ?? ""
    }
  }
}
