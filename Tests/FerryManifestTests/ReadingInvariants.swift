import FerryManifest

/// Invariants of reading a manifest from arbitrary bytes, whether valid or hostile.
///
/// This file belongs to both the fuzz target and the tests, so that they check the same invariants.
enum ReadingInvariants {
  /// The maximum length of a diagnostic's text about one place, in Unicode scalars: headline, excerpt and remedy.
  static let largestSection = 2_000
  /// The maximum length of a message, in Unicode scalars. The longest messages are lists of names.
  static let longestMessage = 1_500
  /// The maximum number of diagnostics: 1,000 about YAML, 1,000 about the rest, and the one that ended the reading.
  static let mostDiagnostics = 2_001

  private static let file = "m.yaml"
  private static let environment = [
    "HOME": "/home/me", "EMPTY": "", "LONG": String(repeating: "e", count: 5_000),
  ]

  /// Separates the parts of an input; it never occurs in YAML.
  ///
  /// The first separator precedes the content of `a.yaml`, the second that of `b.yaml`, the third a file of
  /// variables.
  private static let separator: UInt8 = 0x1E

  /// Reads the bytes and returns a sentence for each violated invariant.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.split(separator: separator, maxSplits: 3, omittingEmptySubsequences: false).map(
      Array.init)
    let bytes = parts.first ?? []
    let included = Dictionary(uniqueKeysWithValues: zip(["a.yaml", "b.yaml"], parts.dropFirst()))
    let files = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      guard let text = included[path] else { throw .init("No such file") }
      return text
    }
    let given = parts.dropFirst(3).map { SourceText($0, file: "vars.yaml") }
    let reader = ManifestReader(
      environment: environment, variables: variables(for: bytes), variableFiles: given, files: files)
    let reading = reader.read(bytes, file: file)
    let formatter = DiagnosticFormatter(sources: reading.sources)

    var violations = outcome(reading)
    violations += places(reading)
    violations += words(reading)
    violations += output(reading, formatter.text(reading.diagnostics))
    let again = reader.read(bytes, file: file)
    if again.manifest != reading.manifest || again.environment != reading.environment
      || again.diagnostics != reading.diagnostics
    {
      violations.append("a second reading differs from the first")
    }
    return violations
  }

  /// `--var` is an error for a variable that the manifest does not declare, so one is passed only if the text contains
  /// its name.
  private static func variables(for bytes: [UInt8]) -> [String: String] {
    String(decoding: bytes, as: UTF8.self).contains("replaced") ? ["replaced": "by ${vars.a}"] : [:]
  }

  private static func outcome(_ reading: ManifestReading) -> [String] {
    let hasError = reading.diagnostics.contains { $0.severity == .error }
    guard (reading.manifest == nil) != hasError else { return [] }
    return [
      hasError
        ? "a manifest was returned together with an error" : "neither a manifest nor an error was returned"
    ]
  }

  private static func places(_ reading: ManifestReading) -> [String] {
    let lines = Dictionary(
      reading.sources.map { ($0.file, lineCount($0.bytes)) }, uniquingKeysWith: { first, _ in first })
    let diagnostics = reading.diagnostics.flatMap { [$0.location] + $0.notes.map(\.location) }
    let all = diagnostics + reading.environment.map(\.location)
    var violations = all.filter { place in
      // A location at the end of a text may be on the line after the last line break.
      guard let last = lines[place.file] else { return true }
      return place.line < 1 || place.column < 1 || place.line > last + 1
    }
    .map { "\($0) is in no text" }
    if !isSorted(reading.diagnostics.map(\.location)) {
      violations.append("the diagnostics are not in order")
    }
    if !isSorted(reading.environment.map(\.location)) { violations.append("the environment is not in order") }
    return violations
  }

  private static func words(_ reading: ManifestReading) -> [String] {
    guard reading.diagnostics.count <= mostDiagnostics else {
      return ["there are \(reading.diagnostics.count) diagnostics"]
    }
    let words = reading.diagnostics.flatMap {
      [$0.message] + [$0.help].compactMap(\.self) + $0.notes.map(\.message)
    }
    return words.filter { $0.unicodeScalars.count > longestMessage || $0.utf8.contains(0x0A) }
      .map { "a message is long or has a line's end: \($0.prefix(200))" }
  }

  private static func output(_ reading: ManifestReading, _ text: String) -> [String] {
    var violations: [String] = []
    var letters = 0
    var lines = 0
    for scalar in text.unicodeScalars {
      letters += 1
      if scalar == "\n" { lines += 1 }
      if isUnprintable(scalar) {
        violations.append("the formatter wrote U+\(String(scalar.value, radix: 16))")
      }
    }
    let places = reading.diagnostics.map { 1 + $0.notes.count }.reduce(0, +)
    let remedies = reading.diagnostics.count { $0.help != nil }
    let expected = 3 * places + remedies + max(0, reading.diagnostics.count - 1)
    if lines != expected { violations.append("the formatter wrote \(lines) lines instead of \(expected)") }
    if letters > largestSection * places { violations.append("the formatter wrote \(letters) letters") }
    return violations
  }

  private static func isSorted(_ places: [SourceLocation]) -> Bool {
    zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }
  }

  /// The number of lines by YAML 1.1's line breaks, counted independently of the code under test.
  private static func lineCount(_ bytes: [UInt8]) -> Int {
    var count = 1
    var previous: Unicode.Scalar = " "
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\n" where previous == "\r": break
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": count += 1
      default: break
      }
      previous = scalar
    }
    return count
  }

  private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\n" && scalar != "\t" && (scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value))
  }
}
