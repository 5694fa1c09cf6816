import FerryManifest
import Foundation
import Testing

/// Invalid manifests with their expected diagnostics. `FERRY_RECORD=1` rewrites the expected texts and fails the run,
/// so that no new text is accepted without a review.
@Suite struct `Each bad manifest of Golden` {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")

  static let names: [String] = {
    // If the folder does not exist, the list is empty, and the test of the number of files fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
  }()

  @Test func `exists`() { #expect(Self.names.count >= 12) }

  @Test(arguments: names)
  func `gets the recorded diagnostics word for word`(_ name: String) throws {
    let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name + ".yaml")))
    let file = name + ".yaml"
    let files = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      do {
        return Array(try Data(contentsOf: Self.folder.appending(path: path)))
      } catch {
        throw .init("No such file or directory")
      }
    }
    let reading = ManifestReader(environment: ["HOME": "/home/me"], files: files).read(bytes, file: file)
    #expect(reading.manifest == nil)
    let text = DiagnosticFormatter(sources: reading.sources).text(reading.diagnostics)
    try expectRecorded(text, at: Self.folder.appending(path: name + ".txt"))
  }
}

/// Compares a text with the recorded one. With `FERRY_RECORD` set, records the text and fails.
func expectRecorded(
  _ text: String, at file: URL, sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
  // A missing record differs from every text.
  let recorded = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  guard ProcessInfo.processInfo.environment["FERRY_RECORD"] != nil else {
    #expect(
      text == recorded, "\(file.lastPathComponent) is stale: record it with FERRY_RECORD=1",
      sourceLocation: sourceLocation)
    return
  }
  guard text != recorded else { return }
  try text.write(to: file, atomically: true, encoding: .utf8)
  Issue.record("recorded \(file.lastPathComponent): read it, then run again", sourceLocation: sourceLocation)
}
