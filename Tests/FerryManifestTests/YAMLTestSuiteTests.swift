import Foundation
import Testing

@testable import FerryManifest

/// If libyaml reads a text, the result must equal the suite's JSON; the table lists the exceptions.
///
/// The suite's data is not part of this repository: `FERRY_YAML_TEST_SUITE` names a checkout of it.
@Suite struct `The public yaml-test-suite` {
  private static let folder = ProcessInfo.processInfo.environment["FERRY_YAML_TEST_SUITE"]

  /// Whether the suite is available. If it is not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  private static let isThere: Bool = {
    guard folder == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the yaml-test-suite; FERRY_YAML_TEST_SUITE names no checkout of it\n\n".utf8))
    return false
  }()

  @Test(.enabled(if: isThere, "FERRY_YAML_TEST_SUITE must name a checkout of the yaml-test-suite"))
  func `is read as specified, except for the listed differences`() throws {
    let cases = try Self.cases()
    #expect(cases.count > 350)
    var differences: [String: YAMLTestSuiteDifference] = [:]
    for difference in YAMLTestSuiteDifference.all {
      for id in difference.cases.split(whereSeparator: \.isWhitespace).map(String.init) {
        #expect(differences.updateValue(difference, forKey: id) == nil, "\(id) is in the table twice")
      }
    }
    #expect(
      Set(differences.keys).subtracting(cases.map(\.id)).isEmpty, "the table has cases the suite has not")

    var read = 0
    for example in cases {
      let outcome = Self.outcome(of: example)
      let difference = differences[example.id]
      #expect(
        outcome == difference?.outcome ?? .asTheSuiteSays,
        "\(example.id), told as: \(difference?.reason ?? "no difference")")
      if outcome == .asTheSuiteSays, !example.fails { read += 1 }
    }
    print("yaml-test-suite: \(cases.count) cases, \(read) read, \(differences.count) differences")
  }

  private static func cases() throws -> [YAMLTestSuiteCase] {
    let sources = URL(fileURLWithPath: folder ?? "").appending(path: "src")
    return try FileManager.default.contentsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".yaml") }.sorted()
      .flatMap { try YAMLTestSuiteCase.cases(in: sources.appending(path: $0)) }
  }

  private static func outcome(of example: YAMLTestSuiteCase) -> YAMLTestSuiteOutcome {
    let source = SourceText(example.yaml, file: "m.yaml")
    let document = YAMLDocument(source)
    if example.fails { return document.diagnostics.isEmpty ? .accepted : .asTheSuiteSays }
    guard YAMLEvent.forEach(in: source, { _ in true }) == nil else { return .refusedByLibYAML }
    if let mistake = document.diagnostics.first { return .refused(mistake.code) }
    guard let json = example.json else { return .notCompared }
    // If the JSON cannot be read, it equals no value.
    return PlainValue.values(ofJSON: json) == document.root.map { [PlainValue($0)] }
      ? .asTheSuiteSays : .readOtherwise
  }
}
