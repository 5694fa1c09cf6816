import FerryReport
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryPlan

/// The reports of shards in files, which `ferry report merge` reads.
@Suite struct `The merged report` {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Writes the report of a shard with one item, and returns its path.
  private func write(
    _ name: String, shard: String, failed: Int = 0, _ change: (inout RunRecord) -> Void = { _ in }
  ) throws -> String {
    let manifest = RunRecord.Manifest(
      name: "photos", path: "m.yaml", sha256: "", round: 1, roundClosed: true)
    var run = RunRecord.Run(
      id: name, manifests: [manifest], launch: .background, startedAt: "2026-01-01T00:00:00Z",
      endedAt: "2026-01-01T00:00:01Z", exitCode: failed > 0 ? 1 : 0, state: .ended)
    run.shard = shard
    var counts = ItemCounts()
    counts.failed = failed
    counts.done = 1 - failed
    let node = RunRecord.NodeRecord(
      name: "u", kind: .upload, session: "s", state: failed > 0 ? .failed : .succeeded, items: counts,
      attempts: [])
    var totals = RunRecord.Totals()
    totals.requests = 1
    var record = RunRecord(run: run, totals: totals, nodes: [node], items: [])
    change(&record)
    let path = folder.path + "/\(name).json"
    try Data(ReportJSON.encode(record)).write(to: URL(filePath: path))
    return path
  }

  @Test(arguments: [256, -1, 999] as [Int32])
  func `is refused if a report has an exit code that no run can have`(_ code: Int32) throws {
    let paths = [
      try write("a", shard: "1/2") { $0.run.exitCode = code }, try write("b", shard: "2/2"),
    ]
    let error = #expect(throws: UsageError.self) { try MergedReport(paths) }
    #expect(error.map { "\($0)" }?.contains("a.json: is not a report of ferry: it has the exit code") == true)
  }

  @Test func `counts a report that was given twice once`() throws {
    let paths = [try write("a", shard: "1/2"), try write("b", shard: "2/2")]
    let record = try MergedReport(paths + paths).source.record
    #expect(record.totals.requests == 2 && record.totals.items.done == 2)
    #expect(record.run.shards?.map(\.runs) == [1, 1])
    // Another run of the same shard counts.
    let more = try MergedReport(paths + [write("c", shard: "1/2")]).source.record
    #expect(more.totals.requests == 3 && more.run.shards?.map(\.runs) == [2, 1])
  }

  @Test func `is refused if two reports of one run have different results`() throws {
    let paths = [try write("a", shard: "1/2", failed: 1), try write("b", shard: "2/2")]
    let forged = try write("c", shard: "1/2") { $0.run.id = "a" }
    let error = #expect(throws: UsageError.self) { try MergedReport([forged] + paths) }
    #expect(error.map { "\($0)" }?.contains("two reports of run a have different results") == true)
  }

  @Test func `has the exit code 1 if an item failed and its report has the exit code 0`() throws {
    let paths = [
      try write("a", shard: "1/2", failed: 1) { $0.run.exitCode = 0 }, try write("b", shard: "2/2"),
    ]
    #expect(try MergedReport(paths).source.record.run.exitCode == 1)
  }

  @Test func `has the exit code 0 if only an optional request and a token for it failed`() throws {
    let setup = try write("a", shard: "setup/1") { record in
      var request = RunRecord.NodeRecord(
        name: "r", kind: .request, session: "s", state: .failed, attempts: [])
      request.optional = true
      let token = RunRecord.NodeRecord(
        name: "t", kind: .token, session: "s", state: .failed, attempts: [])
      record.nodes = [token, request] + record.nodes
    }
    let merged = try MergedReport([setup, write("b", shard: "1/1")])
    #expect(merged.source.record.run.exitCode == 0)
  }

  /// With `--only` of another node, for example.
  @Test func `shows that an upload waits if the last run of a shard did not include it`() throws {
    func other(_ shard: String) throws -> String {
      try write(shard.replacing("/", with: "-"), shard: shard) {
        $0.nodes[0].state = .notSelected
        $0.nodes[0].items = nil
      }
    }
    let record = try MergedReport([write("a", shard: "1/2"), other("2/2")]).source.record
    #expect(record.nodes[0].state == .waiting && record.run.exitCode == 5)
    #expect(record.nodes[0].reason?.message == "the last run of shard 2/2 did not include it")
    // No shard has executed the upload.
    let none = try MergedReport([other("1/2"), other("2/2")]).source.record
    #expect(none.nodes[0].state == .notSelected && none.run.exitCode == 0)
    // A failure is more important.
    let failed = try MergedReport([write("b", shard: "1/2", failed: 1), other("2/2")]).source.record
    #expect(failed.nodes[0].state == .failed && failed.nodes[0].reason == nil && failed.run.exitCode == 1)
  }

  @Test func `shows that a request waits if the last run of its part was interrupted`() throws {
    func request(_ state: ReportState) -> RunRecord.NodeRecord {
      .init(name: "r", kind: .request, session: "s", state: state, attempts: [])
    }
    func merged(_ setup: ReportState, _ change: (inout RunRecord) -> Void) throws -> RunRecord.NodeRecord {
      let paths = [
        try write("a", shard: "setup/1") { $0.nodes.append(request(setup)) }, try write("b", shard: "1/1"),
        try write("c", shard: "finish/1", change),
      ]
      return try #require(MergedReport(paths).source.record.nodes.first { $0.name == "r" })
    }
    let unknown = try merged(.notSelected) { record in
      record.nodes = []
      record.run.state = .interrupted
    }
    #expect(unknown.state == .waiting)
    #expect(unknown.reason?.message == "the last run of finish/1 was interrupted")
    // The request ended before the interruption of another part.
    let ended = try merged(.succeeded) { record in
      record.nodes = []
      record.run.state = .interrupted
    }
    #expect(ended.state == .succeeded && ended.reason == nil)
    #expect(try merged(.notSelected) { _ in }.state == .notSelected)
  }
}
