import FerryManifest
import Foundation
import Testing

@Suite struct `The explanation of a code` {
  /// Codes without an example on the page, because the example would be too large or not text, or because only a plan
  /// or a run reports the code.
  static let withoutExample: Set<DiagnosticCode> = [
    .manifestTooLarge, .invalidUTF8, .forbiddenCharacter, .nestedTooDeep, .variablesTooDeep,
    .variablesTooLarge, .includesTooDeep, .fileOutlivesUploadID, .globMatchesNothing,
    .fileOverBudget, .unknownTimeZone,
  ]

  private func codes(_ example: Explanation.Example) -> Set<DiagnosticCode> {
    let files = example.beside.merging(["photos.yaml": example.manifest]) { beside, _ in beside }
    let loader = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      guard let text = files[path] else { throw .init("No such file or directory") }
      return Array(text.utf8)
    }
    let reader = ManifestReader(environment: [:], variables: example.variables, files: loader)
    return Set(reader.read(Array(example.manifest.utf8), file: "photos.yaml").diagnostics.map(\.code))
  }

  @Test(arguments: DiagnosticCode.allCases)
  func `has a wrong example with this code alone, and a right one with none`(_ code: DiagnosticCode) throws {
    guard !Self.withoutExample.contains(code) else {
      #expect(code.explanation.wrong == nil && code.explanation.right == nil)
      return
    }
    let wrong = try #require(code.explanation.wrong)
    let right = try #require(code.explanation.right)
    #expect(wrong != right)
    #expect(codes(wrong) == [code])
    #expect(codes(right) == [])
  }

  @Test(arguments: DiagnosticCode.allCases)
  func `is a title of one line and two to five sentences`(_ code: DiagnosticCode) {
    let explanation = code.explanation
    #expect(!explanation.title.contains("\n") && !explanation.title.hasSuffix("."))
    #expect((10...70).contains(explanation.title.count))
    #expect(!explanation.text.contains("\n") && explanation.text.hasSuffix("."))
    let sentences = explanation.text.matches(of: /[.:?!] +(?=[`A-Z])|[.]$/).count
    #expect((2...6).contains(sentences), "\(sentences)")
  }

  @Test func `belongs to one code only`() {
    let titles = DiagnosticCode.allCases.map(\.explanation.title)
    #expect(Set(titles).count == titles.count)
  }

  @Test func `is found by the code in any case`() {
    #expect(DiagnosticCode(written: "f0201") == .unknownKey)
    #expect(DiagnosticCode(written: "F0201") == .unknownKey)
    #expect(DiagnosticCode(written: "F9999") == nil)
  }

  @Test func `has the severity of its family`() {
    #expect(DiagnosticCode.Family.allCases.flatMap(\.codes) == DiagnosticCode.allCases)
    #expect(DiagnosticCode.unusedSession.severity == .warning)
    #expect(DiagnosticCode.unknownKey.severity == .error)
  }

  @Test func `is on the page of diagnostics`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    try expectRecorded(DiagnosticReference.markdown(), at: root.appending(path: "docs/diagnostics.md"))
  }

  @Test func `is wrapped for a terminal, with its examples`() {
    #expect(
      DiagnosticReference.text(.duplicateEach).hasPrefix(
        """
        F0606 (error): A duplicate key of for_each

        Each key of `for_each` creates a separate node, such as `catalog[eu]`, and two
        nodes cannot have the same name. Remove one of the keys, or rename it. In a
        mapping, several keys can have the same value.

        wrong:

          version: 1
        """))
    #expect(
      DiagnosticReference.text(.undeclaredVariable).contains("\nwrong, with --var floder=/srv/photos:\n"))
  }

  @Test func `has no Markdown links at a terminal`() {
    let texts = DiagnosticCode.allCases.map(\.explanation.plainText)
    #expect(texts.allSatisfy { !$0.contains("](") })
    #expect(texts.contains { $0.contains("The manifest (docs/manifest.md) lists") })
  }
}
