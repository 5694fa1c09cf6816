import FerryManifest
import Foundation
import Testing

/// Each of the mistakes in `Golden/twenty-mistakes.yaml` gets a diagnostic with a different code.
@Suite struct `A manifest with twenty mistakes` {
  /// A mistake and its correction.
  struct Mending: Sendable, CustomTestStringConvertible {
    var code: DiagnosticCode
    var wrong: String
    var right: String
    var testDescription: String { "\(code): \(wrong)" }

    init(_ code: DiagnosticCode, _ wrong: String, _ right: String) {
      (self.code, self.wrong, self.right) = (code, wrong, right)
    }
  }

  static let mendings = [
    Mending(.invalidName, "photos/nightly", "photos-nightly"),
    Mending(.variableCircle, "album: ${vars.album}", "album: summer"),
    Mending(.missingUnit, "request: 30", "request: 30s"),
    Mending(.duplicateIdentifier, "photos\n    kind", "photos.upload\n    kind"),
    Mending(.unknownWord, "backround", "background"),
    Mending(.wrongType, "5000", "50"),
    Mending(.malformedQuantity, "1d12h", "36h"),
    Mending(.invalidMethod, "post", "POST"),
    Mending(.unknownSecret, "client_secrt", "client_secret"),
    Mending(.invalidPointer, "json: access_token", "json: /access_token"),
    Mending(.unknownCapture, "acces_token", "access_token"),
    Mending(.unknownSession, "uplods", "uploads"),
    Mending(.unknownReference, "${HOME}", "${env.HOME}"),
    Mending(.invalidGlob, "{jpg,png", "{jpg,png}"),
    Mending(.missingStep, "${allocate.id}", "${file.path}"),
    Mending(.ownHeader, "Content-Length", "X-Length"),
    Mending(.contradictoryBounds, "initial: 10m", "initial: 10s"),
    Mending(.cycle, "needs: [notify]", "needs: [photos]"),
    Mending(.unknownKey, "url: ${vars.api}/catalog.json", "request: { url: \"${vars.api}/catalog.json\" }"),
    Mending(.invalidPath, "../catalog.json", "catalog.json"),
  ]

  private static let file = "twenty-mistakes.yaml"

  private func manifest() throws -> String {
    try String(contentsOf: `Each bad manifest of Golden`.folder.appending(path: Self.file), encoding: .utf8)
  }

  /// The codes of a manifest's diagnostics, and the text of each diagnostic.
  private func told(_ manifest: String) -> (codes: [DiagnosticCode], texts: [String]) {
    let bytes = Array(manifest.utf8)
    let found = ManifestReader(environment: ["HOME": "/home/me"]).read(bytes, file: Self.file).diagnostics
    let formatter = DiagnosticFormatter(sources: [SourceText(bytes, file: Self.file)])
    return (found.map(\.code), found.map { formatter.text($0) })
  }

  @Test func `gets twenty diagnostics, each with another code`() throws {
    let codes = try told(manifest()).codes
    #expect(codes.count == 20)
    #expect(Set(codes) == Set(Self.mendings.map(\.code)) && Set(codes).count == 20)
  }

  @Test(arguments: mendings)
  func `gets the same other nineteen diagnostics if one is corrected`(_ mending: Mending) throws {
    let manifest = try manifest()
    #expect(manifest.ranges(of: mending.wrong).count == 1)
    let before = told(manifest)
    let index = try #require(before.codes.firstIndex(of: mending.code))
    var left = before.texts
    left.remove(at: index)
    #expect(told(manifest.replacing(mending.wrong, with: mending.right)).texts == left)
  }

  @Test func `gets no diagnostics if all are corrected`() throws {
    let mended = Self.mendings.reduce(try manifest()) { $0.replacing($1.wrong, with: $1.right) }
    #expect(told(mended).texts == [])
  }
}
