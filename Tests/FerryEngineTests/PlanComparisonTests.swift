import FerryReport
import Foundation
import Testing

@testable import FerryPlan

/// The comparison of a plan with a run.
struct PlanComparisonTests {
  private func plan(
    toSend: Int = 8, bytes: Int64 = 800, state: String = "run", steps: [String] = ["transfer"],
    name: String = "photos", kind: Node.Kind = .upload, unknownSizes: Int? = nil
  ) throws -> PlannedRun {
    let unknown = unknownSizes.map { ",\"unknown_sizes\":\($0)" } ?? ""
    let list = steps.map {
      "{\"step\":\"\($0)\",\"session\":\"s\",\"method\":\"PUT\",\"url\":\"u\",\"repeatability\":\"repeatable\"}"
    }
    let json = """
      {"version":1,"manifest":"m","path":"m.yaml","round":3,"continues_round":false,"launch":"background",
       "at":"2026-11-25T10:00:00.000Z","conditions":{"network":"wired","is_expensive":false,"power":"external"},
       "budgets":[],"sessions":[],"errors":[],"warnings":[],"nodes":[
        {"name":"\(name)","kind":"\(kind.rawValue)","session":"s","needs":[],"state":"\(state)","problems":[],
         "steps":[\(list.joined(separator: ","))],
         "items":{"to_send":\(toSend),"bytes_to_send":\(bytes)\(unknown),"begun":0,"unchanged":0,"done_in_round":0,
          "failed_in_round":0,"ambiguous":0,"batches":1}}]}
      """
    guard case .planned(let planned) = PlannedRun.document(Array(json.utf8)) else {
      throw NotAPlan()
    }
    return planned
  }

  private struct NotAPlan: Error {}

  private func run(
    round: Int64 = 3, done: Int, failed: Int = 0, waiting: Int = 0, requests: Int, bytes: Int64,
    seconds: Double = 2, kind: Node.Kind = .upload
  ) throws -> RunRecord {
    let manifest = RunRecord.Manifest(
      name: "m", path: "m.yaml", sha256: "", round: round, roundClosed: true)
    var counts = ItemCounts()
    (counts.done, counts.failed, counts.waiting) = (done, failed, waiting)
    var node = RunRecord.NodeRecord(
      name: "photos", kind: kind, session: "s", state: failed > 0 ? .failed : .succeeded, items: counts,
      attempts: [])
    if requests > 0 {
      let start = Instant(nanoseconds: 0)
      node.work = .init(
        requests: requests, usefulBytes: bytes, itemsDone: done, startedAt: start,
        endedAt: start.advanced(by: .seconds(fraction: seconds)))
    }
    return RunRecord(
      run: .init(
        id: "r", manifests: [manifest], launch: .background, startedAt: "2026-11-25T10:00:00.000Z",
        endedAt: "2026-11-25T10:00:05.000Z", exitCode: 0, state: .ended),
      totals: .init(), nodes: [node], items: [])
  }

  private func codes(_ planned: PlannedRun, _ run: RunRecord) -> [PlanComparison.Code] {
    PlanComparison(planned, run).nodes.flatMap { $0.differences.map(\.code) }
  }

  @Test func `a run as planned has no differences`() throws {
    let comparison = try PlanComparison(plan(), run(done: 8, requests: 8, bytes: 800))
    #expect(comparison.nodes.count == 1 && comparison.nodes[0].differences.isEmpty)
    #expect(comparison.differences.isEmpty)
    #expect(comparison.files == .init(planned: 8, actual: 8))
    #expect(comparison.bytes == .init(planned: 800, actual: 800))
    #expect(comparison.requests == .init(planned: 8, actual: 8))
  }

  @Test func `each kind of difference has its code`() throws {
    #expect(
      try codes(plan(), run(done: 7, failed: 1, requests: 9, bytes: 700)) == [.failed, .moreRequests])
    #expect(try codes(plan(), run(done: 6, waiting: 2, requests: 6, bytes: 600)) == [.remaining])
    #expect(try codes(plan(), run(done: 9, requests: 9, bytes: 900)) == [.moreFiles])
    #expect(try codes(plan(), run(done: 5, requests: 5, bytes: 500)) == [.fewerFiles])
    #expect(try codes(plan(), run(done: 8, requests: 8, bytes: 900)) == [.otherSizes])
    #expect(try codes(plan(), run(done: 0, requests: 0, bytes: 0)) == [.notRun])
    #expect(
      try codes(plan(toSend: 0, bytes: 0), run(done: 1, requests: 1, bytes: 1)) == [
        .notExpected, .moreFiles,
      ])
    #expect(
      try codes(plan(name: "other"), run(done: 8, requests: 8, bytes: 800)) == [.notInRun, .notInPlan])
    let later = try PlanComparison(plan(), run(round: 4, done: 8, requests: 8, bytes: 800))
    #expect(later.differences.map(\.code) == [.otherRound])
  }

  @Test func `a download batch has the files and bytes that it has stored`() throws {
    let received = try run(done: 8, requests: 8, bytes: 800, kind: .download)
    for (bytes, unknown): (Int64, Int?) in [(800, nil), (0, 8), (300, 3)] {
      let comparison = try PlanComparison(
        plan(bytes: bytes, steps: ["download"], kind: .download, unknownSizes: unknown), received)
      #expect(comparison.files == .init(planned: 8, actual: 8))
      // A list need not state the sizes.
      #expect(comparison.nodes[0].bytes == .init(planned: unknown == nil ? bytes : nil, actual: 800))
      #expect(comparison.nodes[0].differences.isEmpty, "\(comparison.nodes[0].differences)")
    }
    let fewer = try run(done: 6, waiting: 2, requests: 6, bytes: 600, kind: .download)
    #expect(try codes(plan(steps: ["download"], kind: .download), fewer) == [.remaining])
  }

  @Test func `allocations and commits are planned requests, and probes are not`() throws {
    let steps = ["allocate", "transfer", "commit", "probe"]
    let comparison = try PlanComparison(
      plan(steps: steps), run(done: 8, requests: 24, bytes: 800))
    #expect(comparison.requests == .init(planned: 24, actual: 24))
  }

  @Test func `numbers and names from a file can have any value`() throws {
    for toSend in [Int.max, Int.min, -1] {
      let planned = try plan(
        toSend: toSend, bytes: .min, steps: ["allocate", "transfer"], name: "\\u001b[31m\\n")
      var record = try run(done: 1, requests: 1, bytes: .max)
      record.plan = PlanComparison(planned, record)
      let text = try ReportText.text(ReportSource(record), status: "ferry status")
      #expect(!text.contains("\u{1B}"), "\(text)")
      for format in ReportFormat.allCases {
        try format.renderer(status: "").render(ReportSource(record), to: MemorySink())
      }
    }
  }

  @Test func `a report contains the comparison, also after it was read again`() throws {
    var record = try run(done: 7, failed: 1, requests: 9, bytes: 700)
    record.plan = PlanComparison(try plan(), record)
    let source = ReportSource(try ReportJSON.decode(ReportJSON.encode(record)))
    #expect(source.record.plan == record.plan)
    let text = try ReportText.text(source, status: "ferry status")
    #expect(
      text.contains(
        "  planned → actual, plan for 2026-11-25T10:00:00.000Z: 8 → 7 files, 800 B → 700 B, 8 → 9 requests\n"),
      "\(text)")
    #expect(
      text.contains(
        "    upload photos: 8 → 7 files, 800 B → 700 B, 8 → 9 requests, 1 file failed; 1 more request\n"),
      "\(text)")
  }
}
