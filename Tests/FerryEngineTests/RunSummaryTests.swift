import FerryReport
import Foundation
import Testing

@testable import FerryPlan

@Suite struct `The summary at the end of a run` {
  private func record(
    exit: ExitCode, done: Int = 0, failed: Int = 0, ambiguous: Int = 0, waiting: Int = 0,
    isOpen: Bool = false,
    nodes: [RunRecord.NodeRecord] = [], items: [RunRecord.ItemRecord] = []
  ) -> RunRecord {
    let manifest = RunRecord.Manifest(
      name: "m", path: "m.yaml", sha256: "", round: 1, roundClosed: !isOpen)
    let run = RunRecord.Run(
      id: "r", manifests: [manifest], launch: .background, startedAt: "2026-11-24T10:00:00.000Z",
      endedAt: "2026-11-24T10:02:05.000Z", exitCode: exit.rawValue, state: .ended)
    var totals = RunRecord.Totals()
    totals.items.done = done
    totals.items.failed = failed
    totals.items.ambiguous = ambiguous
    totals.items.waiting = waiting
    totals.itemsDoneInRun = done
    totals.requests = done + failed + ambiguous
    totals.bytes.useful = 2_000_000
    totals.bytes.overhead = 1000
    totals.bytes.carried(sent: 2_100_000, received: 400_000)
    return RunRecord(run: run, totals: totals, nodes: nodes, items: items)
  }

  private func node(_ name: String, _ state: ReportState, done: Int = 0, failed: Int = 0)
    -> RunRecord.NodeRecord
  {
    var counts = ItemCounts()
    counts.done = done
    counts.failed = failed
    return RunRecord.NodeRecord(
      name: name, kind: .upload, session: "s", state: state, items: counts, attempts: [])
  }

  private func item(_ path: String, _ message: String, _ detail: FailureDetail? = nil) -> RunRecord.ItemRecord
  {
    RunRecord.ItemRecord(
      node: "photos", path: path.utf8, size: 1, state: .failed,
      reason: RecordedFailure(code: .httpStatus, status: 403, message: message, detail: detail), attempts: [])
  }

  private func text(_ record: RunRecord) throws -> String {
    let commands = RunSummary.Commands(
      status: "ferry status", resume: "ferry resume", report: "ferry report r")
    let source = ReportSource(try ReportJSON.decode(ReportJSON.encode(record)))
    return try RunSummary(source, commands: commands, report: "/state/runs/r/report.json").text
  }

  @Test func `shows the reasons why elements are not listed, the most frequent first`() throws {
    var node = node("photos", .failed, failed: 13)
    node.problems = ["b", "a", "a", "c", "d", "e", "f"].enumerated().map { index, message in
      RunRecord.FileProblem(path: Array("/\(index)".utf8), code: "source_missing", message: message)
    }
    node.problemsOmitted = 6
    let summary = try text(record(exit: .itemsFailed, failed: 13, nodes: [node]))
    let lines = summary.split(separator: "\n").filter { $0.contains("not listed") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(
      lines == [
        "photos: 2 × not listed: a (first: /1)", "photos: /0: not listed: b", "photos: /3: not listed: c",
        "photos: /4: not listed: d", "photos: 8 × not listed: for other reasons (first: /5)",
      ], "\(summary)")
  }

  /// Another user can cause a problem with a file that sorts first.
  @Test func `shows the reasons why delivered files remain in place`() throws {
    var node = node("photos", .succeeded, done: 3)
    node.after = RunRecord.AfterRecord(
      deleted: 0, moved: 0,
      problems: [
        ("a0", "it changed"), ("b", "the folder belongs to user 1"), ("c", "the folder belongs to user 1"),
      ]
      .map { .init(path: Array($0.0.utf8), code: "after_folder", message: $0.1, isOwed: true) })
    let summary = try text(record(exit: .temporary, done: 3, nodes: [node]))
    #expect(
      summary.contains(
        "photos: 2 × delivered, but not moved or deleted: the folder belongs to user 1 (first: b)\n"),
      "\(summary)")
    #expect(
      summary.contains("photos: a0: delivered, but not moved or deleted: it changed\n"), "\(summary)")
  }

  @Test func `states what was sent and received, what failed and why, and what to do next`() throws {
    let items = (0..<300).map { number in
      item(
        "\(1000 + number).txt", "the server responded with 403 to PUT",
        FailureDetail(method: "PUT", url: "https://host/\(1000 + number).txt", reasonPhrase: "Forbidden"))
    }
    let record = record(
      exit: .itemsFailed, done: 700, failed: 300, nodes: [node("photos", .failed, done: 700, failed: 300)],
      items: items)
    #expect(
      try text(record) == """
        m: not everything was delivered (exit code 1): 700 items delivered, 300 failed
          sent 2.1 MB, received 400.0 kB, 1,000 requests, 2 min 5 s, 20.0 kB/s
          upload photos: failed, 700 done, 300 failed
          photos: 300 × 403 Forbidden, PUT https://host/1000.txt (first: 1000.txt)
          next: correct the causes; the next run retries what failed
          report: /state/runs/r/report.json

        """)
  }

  @Test func `states how to continue a round that is open`() throws {
    let deferred = try text(record(exit: .deferred, done: 1, waiting: 5, isOpen: true))
    #expect(deferred.contains("  next: when the conditions have changed, run: ferry resume\n"), "\(deferred)")
    let stopped = try text(record(exit: .interrupted, done: 1, waiting: 5, isOpen: true))
    #expect(stopped.contains("  next: to continue, run: ferry resume\n"), "\(stopped)")
    #expect(try !text(record(exit: .success, done: 1)).contains("next: "))
    let earlier = try text(record(exit: .itemsFailed, ambiguous: 1))
    #expect(
      earlier.contains(
        "  next: to list ambiguous items with the commands that resolve them, run: ferry status\n"),
      "\(earlier)")
  }

  @Test func `has at most ten lines, whatever happened`() throws {
    for (nodes, causes) in [(1, 1), (6, 0), (7, 0), (100, 0), (1, 5), (1, 6), (3, 4), (100, 100)] {
      // Causes with different words are not combined.
      let words = (0..<causes).map { String(repeating: "x", count: $0 + 1) }
      let items = words.map { item("\($0).txt", "because of \($0)") }
      let record = record(
        exit: .itemsFailed, done: 3, failed: causes,
        nodes: (0..<nodes).map { node("n\($0)", .succeeded, done: 1) }, items: items)
      let text = try text(record)
      let lines = text.split(separator: "\n")
      #expect(lines.count <= RunSummary.mostLines, "\(text)")
      #expect(lines.last == "  report: /state/runs/r/report.json")
      // Every cause is shown, or the number of those that are not.
      let shown = lines.count { $0.contains("because of") }
      if shown < causes {
        #expect(text.contains("  … and \(causes - shown) more: ferry report r\n"), "\(text)")
      }
      #expect((nodes + causes <= 6) == lines.contains { $0.contains("upload n0") }, "\(text)")
    }
  }

  @Test func `shortens lines with text of a server`() throws {
    let body = String(repeating: "日本", count: 300)
    let record = record(
      exit: .itemsFailed, failed: 1,
      items: [item("a", "no", FailureDetail(method: "PUT", url: "u", body: body))])
    for line in try text(record).split(separator: "\n") {
      #expect(ProgressText.width(String(line)) <= 402, "\(line)")
    }
  }
}
