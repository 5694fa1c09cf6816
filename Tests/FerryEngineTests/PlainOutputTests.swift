import FerryDigest
import FerryPlan
import FerryReport
import Foundation
import Testing

@testable import FerryEngine

/// Text output contains file names and text from servers. Terminal control sequences in them must not reach the
/// terminal.
struct PlainOutputTests {
  private static let escape = "a\u{1B}[2J\nb"

  private func isPlain(_ text: String) -> Bool {
    !text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" } && text.contains("a\\033[2J")
  }

  @Test func textInAReportIsEscaped() throws {
    let words = try JSONEncoder().encode(Self.escape)
    let hostile = String(decoding: words, as: UTF8.self)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let node = """
      {"name": "photos", "kind": "upload", "session": "s", "state": "failed", "attempts": [],
      "problems": [{"path": \(hostile), "code": "c", "message": \(hostile)}],
      "orphans": {"dropped": 0, "released": 0, "failed": 1, "reason": {"code": "c", "message": \(hostile)}},
      "ambiguity": {"step": "commit", "origin": \(hostile), "captures": {"id": \(hostile)}, "resolve": [\(hostile)]}}
      """
    let record = RunRecord(
      run: .init(
        id: "1", manifests: [], launch: .background, startedAt: "", endedAt: "", exitCode: 70, state: .ended,
        fault: "one\n" + Self.escape),
      totals: .init(), nodes: [try decoder.decode(RunRecord.NodeRecord.self, from: Data(node.utf8))],
      items: [])
    let text = try ReportText.text(ReportSource(record), status: Self.escape)
    #expect(isPlain(text), "\(text)")
    #expect(text.contains("photos: \"a\\033[2J\\nb\": not listed: a\\033[2J\\nb"), "\(text)")
    #expect(text.contains("  fault: one\n  a\\033[2J\n  b\n"), "\(text)")
  }

  @Test func textInOrphansIsEscaped() {
    let orphan = OrphansDocument.Entry(
      session: "s", id: 1, manifest: "m", upload: "photos", origin: Self.escape, path: "?",
      pathBase64: Base64.encode([0xFF, 0x1B]), captures: ["id": Self.escape], handedOverAt: "", droppedAt: "",
      reason: Self.escape, isInDoubt: false, isReleasedByNextRun: false, hindrance: Self.escape, triedAt: "",
      failure: .init(code: "c", message: Self.escape))
    let text = OrphansText.text(.init(state: "", at: "", orphans: [orphan]), in: .utc)
    #expect(isPlain(text), "\(text)")
    #expect(text.contains("1. photos/\"\\377\\033\" of m: id a\\033[2J\\nb at "), "\(text)")
    #expect(text.split(separator: "\n").count == 5, "\(text)")
  }

  @Test func textInAnAuditIsEscaped() {
    let finding = AuditDocument.Finding(
      code: "c", message: Self.escape, effect: Self.escape, remedy: Self.escape)
    let file = AuditDocument.File(file: Self.escape, sound: false, rows: [:], findings: [finding])
    let text = AuditText.text(.init(state: "", at: "", files: [file]))
    #expect(isPlain(text), "\(text)")
    let empty = AuditText.text(.init(state: Self.escape, at: "", files: []))
    #expect(isPlain(empty), "\(empty)")
  }
}
