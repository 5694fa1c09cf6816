import FerryManifest
import FerryReport
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryPlan

/// Reports in files, which another user may have forged.
@Suite struct `A report from a file` {
  private static let hostile = "x\u{1B}[31m\r\n::error::y\u{202E}"

  private static func record() throws -> RunRecord {
    let manifest = RunRecord.Manifest(
      name: "photos", path: "m.yaml", sha256: "", round: 1, roundClosed: true)
    var run = RunRecord.Run(
      id: "r", manifests: [manifest], launch: .background, startedAt: "2026-01-01T00:00:00Z",
      endedAt: "2026-01-01T00:00:01Z", exitCode: 1, state: .ended)
    run.shard = "1/2"
    var counts = ItemCounts()
    counts.failed = 1
    var node = RunRecord.NodeRecord(
      name: "u", kind: .upload, session: "s", state: .failed, items: counts, attempts: [])
    node.after = .init(deleted: 1, moved: 1, problems: [])
    let start = Instant(nanoseconds: 0)
    node.work = .init(requests: 1, usefulBytes: 1, itemsDone: 0, startedAt: start, endedAt: start)
    let item = RunRecord.ItemRecord(
      node: "u", path: "a".utf8, size: 1, state: .failed,
      reason: .init(code: .httpStatus, status: 400, message: "no"))
    var record = RunRecord(run: run, totals: .init(), nodes: [node], items: [item])
    record.timeline = RunTimeline(intervalSeconds: 1, durationSeconds: 1)
    record.timeline?.bytes = [1]
    return record
  }

  /// A report with values that a change has replaced, as `ferry report` reads it from JSON.
  private static func forged(_ change: (inout RunRecord) -> Void) throws -> RunRecord {
    var record = try record()
    change(&record)
    return try ReportJSON.decode(ReportJSON.encode(record))
  }

  /// A program such as jq writes the items on several lines, with the same indentation as ferry before them.
  @Test(arguments: [false, true]) func `can be formatted by another program`(_ isFormatted: Bool) throws {
    var text = String(decoding: try ReportJSON.encode(Self.record()), as: UTF8.self)
    let item = "\n    {\"attempts\""
    try #require(text.contains(item))
    if isFormatted { text = text.replacing(item, with: "\n    {\n      \"attempts\"") }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8)[...] }
    let source = try ReportJSON.source { body in for line in lines { try body(line) } }
    var paths: [String] = []
    try source.eachItem { paths.append($0.path) }
    #expect(paths == ["a"])
  }

  @Test(arguments: ReportFormat.allCases)
  func `cannot control a terminal or add a line to a document`(_ format: ReportFormat) throws {
    let record = try Self.forged { record in
      record.run.id = Self.hostile
      record.run.manifest = Self.hostile
      record.run.path = Self.hostile
      record.run.manifests?[0].name = Self.hostile
      record.run.manifests?[0].path = Self.hostile
      record.run.shard = Self.hostile
      record.nodes[0].name = Self.hostile
      record.nodes[0].session = Self.hostile
      record.items[0].node = Self.hostile
      record.items[0].path = Self.hostile
      record.run.delays = [.init(session: Self.hostile, periodSeconds: 1, endsAt: "")]
      record.plan = PlanComparison(
        source: .simulation, plannedAt: Self.hostile, round: nil, policy: nil, seconds: .init(planned: 1),
        differences: [.init(.otherRound, Self.hostile)],
        nodes: [
          .init(
            manifest: Self.hostile, name: Self.hostile, kind: .upload, plannedState: nil, actualState: nil,
            files: .init(), bytes: .init(), requests: .init(), seconds: .init(),
            differences: [.init(.failed, Self.hostile)])
        ], timeline: [.init(manifest: nil, name: Self.hostile, spans: [.init(.sending, from: 0, to: 1)])])
      record.run.onEnd = [.init(manifest: nil, name: Self.hostile, state: .failed, required: true)]
    }
    let sink = MemorySink()
    try format.renderer(status: "ferry status").render(ReportSource(record), to: sink)
    let text = String(decoding: sink.bytes, as: UTF8.self)
    let forbidden = text.unicodeScalars.first {
      $0 != "\n" && $0.properties.generalCategory == .control || $0 == "\u{202E}"
    }
    #expect(forbidden == nil, "\(text)")
    #expect(!text.split(separator: "\n").contains { $0.hasPrefix("::error::y") })
  }

  @Test func `keeps names that can be printed`() throws {
    let record = try Self.forged { $0.nodes[0].name = "images[größe \"ä\"]" }
    #expect(record.nodes[0].name == "images[größe \"ä\"]" && record.run.id == "r")
  }

  @Test(
    arguments: [
      { $0.nodes[0].items?.done = .max }, { $0.nodes[0].items?.waiting = -1 },
      { $0.totals.itemsDoneInRun = .min }, { $0.totals.bytes.useful = .max }, { $0.items[0].size = -1 },
      { $0.nodes[0].after?.deleted = .max }, { $0.timeline?.bytes = [.min] },
      { $0.run.manifests?[0].round = .max }, { $0.nodes[0].work?.requests = -1 },
      { $0.nodes[0].work?.usefulBytes = .max }, { $0.nodes[0].work?.itemsDone = .max },
    ] as [@Sendable (inout RunRecord) -> Void])
  func `is refused if it has a count that no run can have`(_ change: @Sendable (inout RunRecord) -> Void) {
    #expect(throws: RunRecord.ImpossibleCount.self) { try Self.forged(change) }
  }

  @Test func `can contain an item of any size`() throws {
    let record = try Self.forged { $0.items[0].size = .max }
    #expect(record.items[0].size == .max)
  }

  @Test func `can contain a budget with any limit that a manifest can have`() throws {
    func forged(_ limit: Int64) throws -> RunRecord {
      try Self.forged {
        let budget = Budget(limit: limit, per: .day)
        let window = Instant(nanoseconds: 0)..<Instant(nanoseconds: 1)
        $0.run.budgets = [.init((network: .any, budget: budget), window: window, before: 0, after: 1)]
      }
    }
    #expect(try forged(.max).run.budgets?.first?.limitBytes == .max)
    #expect(throws: RunRecord.ImpossibleCount.self) { try forged(-1) }
  }

  @Test func `names its path in the reason`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/r.json"
    var record = try Self.record()
    record.items[0].size = -1
    try Data(ReportJSON.encode(record)).write(to: URL(filePath: path))
    // The items are read only when they are needed.
    let source = try StoredReport.read(path: path)
    let error = #expect(throws: UsageError.self) { try source.eachItem { _ in } }
    #expect(error.map { "\($0)" }?.contains("r.json: is not a report of ferry: it has a count") == true)
    try Data("{}".utf8).write(to: URL(filePath: path))
    #expect(throws: UsageError.self) { try StoredReport.read(path: path) }
  }

  /// Such as a sparse file of any size.
  @Test func `is not read into memory if it has no lines`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/r.json"
    try Data().write(to: URL(filePath: path))
    try #require(truncate(path, 1 << 40) == 0)
    let error = #expect(throws: UsageError.self) { try StoredReport.read(path: path) }
    #expect(error.map { "\($0)" }?.hasSuffix("it has a line of more than 64 MiB") == true)
  }
}
