import FerryManifest
import Testing

@Suite struct `A bad manifest` {
  static let cases =
    BadManifest.text + BadManifest.structure + BadManifest.keys + BadManifest.values + BadManifest.quantities
    + BadManifest.requests + BadManifest.names + BadManifest.references + BadManifest.circles
    + BadManifest.sharing + BadManifest.tokens + BadManifest.large + BadManifest.downloads

  /// Codes for files that are too large or not UTF-8. Separate tests below cover them.
  static let shownBelow: Set<DiagnosticCode> = [.manifestTooLarge, .invalidUTF8]

  /// Codes of warnings, which have separate tests.
  static let warnings: Set<DiagnosticCode> = [
    .unusedSession, .uploadIDWithoutLife, .fileOutlivesUploadID, .globMatchesNothing, .plainSecret,
    .tokenWithoutTLS, .sharedSaveTo, .idlePriority, .idlePolicy, .idleRepeatable, .idleSignature,
    .idleComparison,
    .takenFiles, .partSettings, .idleConnectionSetting, .idleAuth,
  ]

  /// Codes that only `ferry plan` reports, because they depend on the files and the machine.
  static let planned: Set<DiagnosticCode> = [.fileOverBudget, .unknownTimeZone]

  @Test(arguments: cases)
  func `gets exactly the expected diagnostics`(_ bad: BadManifest) { bad.expectTold() }

  @Test func `is one of at least a hundred and fifty with distinct names`() {
    #expect(Self.cases.count >= 150)
    #expect(Set(Self.cases.map(\.name)).count == Self.cases.count)
  }

  @Test func `exists for every code`() {
    let shown = Set(Self.cases.flatMap { $0.told.map(\.code) })
    #expect(
      shown.union(Self.shownBelow).union(Self.warnings).union(Self.planned) == Set(DiagnosticCode.allCases))
    #expect(shown.isDisjoint(with: Self.shownBelow.union(Self.warnings).union(Self.planned)))
  }

  @Test(arguments: cases)
  func `gets diagnostics of one line each, without a full stop`(_ bad: BadManifest) {
    for text in bad.told.flatMap({ [$0.message, $0.help] + $0.notes.map(\.message) }) {
      #expect(!text.isEmpty && !text.contains("\n") && !text.hasSuffix("."), "\(text)")
    }
  }

  @Test func `of more than 64 MiB is not read`() {
    let bytes = [UInt8](repeating: 0x20, count: (64 << 20) + 1)
    let found = ManifestReader(environment: [:]).read(bytes, file: "m.yaml").diagnostics
    #expect(
      found.map { "\($0.location) \($0.code) \($0.message)" } == [
        "m.yaml:1:1 manifestTooLarge the manifest is larger than 64 MiB"
      ])
    #expect(found.first?.help == "list the files in a `list:` file instead")
  }

  @Test(
    arguments: [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
  func `that is not UTF-8 is reported at the first invalid byte`(_ wrong: [UInt8]) {
    let bytes = Array("name: é".utf8) + wrong + Array("\nversion: 1".utf8)
    let found = ManifestReader(environment: [:]).read(bytes, file: "m.yaml").diagnostics
    #expect(
      found.map { "\($0.location) \($0.code) \($0.message)" } == [
        "m.yaml:1:8 invalidUTF8 the text is not valid UTF-8"
      ])
    #expect(found.first?.help == "save the manifest as UTF-8")
  }

  @Test(arguments: BadManifest.Surroundings.allCases)
  func `is invalid because of its own text, not because of its context`(
    _ surroundings: BadManifest.Surroundings
  ) {
    let reading = read(surroundings.manifest(around: surroundings.right))
    #expect(reading.diagnostics.filter { $0.severity == .error } == [])
  }
}
