import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// The warnings of a plan, with real files and a real journal.
struct PlanWarningTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private static func manifest(
    _ validFor: String, include: String = "", session: String = "identifier: s", more: String = ""
  ) -> String {
    """
    version: 1
    name: m
    sessions: { s: { \(session) } }
    uploads:
      u:
        session: s
        files: { root: root\(include) }
        allocate:
          request: { url: https://a.example/ids }
          capture: { id: { json: /id } }
          \(validFor)
        transfer: { request: { url: "https://a.example/${allocate.id}" } }
        \(more)
    """
  }

  private var state: StateDirectory {
    get throws { try StateDirectory(explicit: folder.path + "/state", environment: [:]) }
  }

  /// Records a run for each sample: a file of this many bytes that was sent in this time.
  private func ran(
    _ samples: [(bytes: Int64, duration: Duration)], manifest: String = "m", upload: String = "u"
  ) throws {
    let start = Instant(nanoseconds: 0)
    let history = try RunHistory.open(in: state, writtenBy: "test", at: start)
    for (index, sample) in samples.enumerated() {
      let id = "\(manifest)-\(upload)-\(index)"
      try history.begin(RunRow(id: id, launch: .background, rounds: [], startedAt: start))
      let rate = RateRow(
        manifest: manifest, upload: upload, session: "s",
        sample: TransferSample(bytes: sample.bytes, duration: sample.duration))
      try history.end(run: id, exitCode: 0, report: nil, rates: [rate], at: start)
    }
    try history.close()
  }

  private func warnings(_ manifest: String, only: [String] = []) throws -> [Diagnostic] {
    let path = folder.path + "/m.yaml"
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: path))
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    let job = try #require(reading.job, "\(reading.diagnostics)")
    let (document, warnings) = try Preview(job, state: try state.path, only: only).look()
    #expect(document.warnings == (job.warnings + warnings).map(DiagnosticRecord.init))
    return warnings
  }

  private func told(_ manifest: String) throws -> [String] {
    try warnings(manifest).map {
      #expect($0.severity == .warning && $0.location.file == folder.path + "/m.yaml")
      return "\($0.code) \($0.location.line):\($0.location.column) \($0.message) | \($0.help ?? "")"
    }
  }

  private static let help =
    "request IDs that are valid for longer and set 'valid_for' accordingly, split the file, or give the session fewer connections"

  @Test func uploadIDsThatWouldExpireAreReportedOnce() throws {
    for (name, size) in [("a", 1_000), ("b", 30_000), ("c", 60_000), ("d", 9_000)] {
      folder.file("root/" + name, size: size)
    }
    try ran([(10_000, .seconds(10))])
    #expect(
      try told(Self.manifest("valid_for: 10s")) == [
        "fileOutlivesUploadID 11:18 2 files take longer to send than their upload IDs remain valid; the largest is "
          + "'c' (60.0 kB): about 60 s at the last runs' 1.0 kB/s | \(Self.help)"
      ])
    #expect(
      try told(Self.manifest("valid_for: 45s")) == [
        "fileOutlivesUploadID 11:18 'c' (60.0 kB) takes longer to send than its upload ID remains valid: about 60 s at the "
          + "last runs' 1.0 kB/s | \(Self.help)"
      ])
    #expect(try told(Self.manifest("valid_for: 61s")) == [])
    #expect(try told(Self.manifest("")) == [])
  }

  @Test func theRateIsTheMedianOfTheLastRuns() throws {
    folder.file("root/a", size: 10_000)
    // The oldest run is ignored. One of the others was slow.
    try ran([
      (1, .seconds(100)), (1_000, .seconds(1)), (1_000, .seconds(1)), (1, .seconds(50)), (2_000, .seconds(1)),
      (2_000, .seconds(1)),
    ])
    #expect(try told(Self.manifest("valid_for: 10s")) == [])
    #expect(try told(Self.manifest("valid_for: 9s")).count == 1)
  }

  @Test func anUploadWithoutRunsUsesTheRateOfItsSession() throws {
    folder.file("root/a", size: 10_000)
    #expect(try told(Self.manifest("valid_for: 9s")) == [])
    try ran([(1_000, .seconds(1))], manifest: "other", upload: "x")
    #expect(try told(Self.manifest("valid_for: 9s")).count == 1)
    #expect(try told(Self.manifest("valid_for: 9s", session: "identifier: t")) == [])
    try ran([(5_000, .seconds(1))])
    #expect(try told(Self.manifest("valid_for: 9s")) == [])
  }

  @Test func shortTransfersDoNotPredictALargeFile() throws {
    folder.file("root/a", size: 10_000)
    try ran([(10, .milliseconds(100))])
    #expect(try told(Self.manifest("valid_for: 9s")) == [])
    try ran([(100, .milliseconds(500))], manifest: "n")
    #expect(try told(Self.manifest("valid_for: 9s")).count == 1)
  }

  @Test func aPatternThatMatchesNothingIsReportedAtItsLocation() throws {
    folder.file("root/a.jpg")
    #expect(
      try told(Self.manifest("", include: ", include: [\"*.jpg\", \"*.jpeg\", \"*.png\"]")) == [
        "globMatchesNothing 7:45 pattern '*.jpeg' does not match any file | check the spelling and capitalization; "
          + "'*' does not match a slash, but '**' does; the root is 'root'",
        "globMatchesNothing 7:55 pattern '*.png' does not match any file | check the spelling and capitalization; "
          + "'*' does not match a slash, but '**' does; the root is 'root'",
      ])
  }

  @Test func noPatternIsReportedThatWasNotGivenOrWhoseFilesMayHaveGone() throws {
    _ = mkdir(folder.path + "/root", 0o755)
    #expect(try told(Self.manifest("")) == [])
    folder.file("list")
    #expect(try told(Self.manifest("", include: ", list: list")) == [])
    #expect(try told(Self.manifest("", include: ", include: [\"*.jpg\"]", more: "after: delete")) == [])
    #expect(try told(Self.manifest("", include: ", include: [\"*.jpg\"]")).count == 1)
  }

  @Test func patternsOfForEachAreReportedOncePerRoot() throws {
    folder.file("eu/a.jpg")
    folder.file("us/a.png")
    let manifest = Self.manifest("", include: ", include: [\"*.jpg\"]", more: "for_each: [eu, us]")
      .replacing("root: root", with: "root: \"${each.key}\"")
    #expect(try warnings(manifest).compactMap(\.help).filter { $0.hasSuffix("the root is 'us'") }.count == 1)
  }

  @Test func excludePatternsAreNotReported() throws {
    _ = mkdir(folder.path + "/root", 0o755)
    let manifest = Self.manifest(
      "", include: ", include: [\"${each.key}.jpg\"]", more: "for_each: [eu, us]")
    func told(_ only: String...) throws -> [String] { try warnings(manifest, only: only).map(\.message) }
    #expect(try told("u[eu]") == ["pattern 'eu.jpg' does not match any file"])
    #expect(try told("u[us]") == ["pattern 'us.jpg' does not match any file"])
    #expect(try told("u").count == 2)
  }

  @Test(arguments: [
    (0.0004, "1 ms"), (0.25, "250 ms"), (1, "1 s"), (119, "119 s"), (120, "2 min"), (3_600, "60 min"),
    (7_200, "2 h"), (86_400, "24 h"), (200_000, "2 d"),
  ])
  func estimatedTimesAreRounded(seconds: Double, text: String) {
    #expect(PlanWarnings.text(seconds) == text)
  }
}
