import FerryJournal
import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

/// The comparison of a listing with a journal of many items, in a run that is stopped during the comparison.
struct StoppedLaunchStateTests {
  private static let rows = 10_000
  private let start = Instant(nanoseconds: 1_600_000_000_000_000_000)
  private let folder: TestFolder
  private let journal: SessionJournal
  private let job: Job

  init() throws {
    folder = try TestFolder()
    folder.file("files/a")
    let manifest = """
      version: 1
      name: m
      sessions: { s: { kind: background, identifier: s } }
      uploads: { u: { session: s, files: { root: files }, transfer: { request: { url: "https://a.example/" } } } }
      """
    let path = folder.path + "/m.yaml"
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: path))
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    job = try #require(reading.job, "\(reading.diagnostics)")
    journal = try .ephemeral(session: "s")
  }

  /// - Parameter looks: how many checks pass before the run is stopped.
  private func launchState(stoppedAfter looks: Int) throws -> LaunchState {
    let count = Looks()
    let state = try StateDirectory(explicit: folder.path + "/state", environment: [:])
    var lister = try #require(try job.listers(environment: [:], state: state)[0])
    lister.isStopped = { count.looks.add(1, ordering: .relaxed).newValue > looks }
    return try LaunchState(
      job, journals: SessionJournals([journal]), round: 1, selection: Selection([], in: job.plan),
      listers: [0: lister], at: start)
  }

  private final class Looks: Sendable {
    let looks = Atomic(0)
  }

  @Test func aStopEndsTheComparisonWithTheJournal() throws {
    let node = try #require(try launchState(stoppedAfter: 0).rows[0]).id
    var files = FileColumns()
    for row in 0..<Self.rows { files.append(path: Array("b/\(row + Self.rows)".utf8), size: 1, modified: 1) }
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    _ = try writer.append(
      [.insert(node: node, round: 1, handedOver: start, firstRow: 1, files: files)], to: 0)
    try writer.close()

    var counts: Set<Int> = []
    for looks in 0..<30 {
      let state = try launchState(stoppedAfter: looks)
      guard case .upload(let items, _) = state.starts[0] else {
        Issue.record("\(state.starts)")
        return
      }
      counts.insert(items.count)
      #expect(state.interrupted == (items.count < Self.rows ? [0] : []), "\(looks)")
    }
    // There is a check every 4,096 rows, and one at the listed file.
    #expect(counts.isSubset(of: [0, 1, 4096, 4097, 8192, 8193, Self.rows, Self.rows + 1]), "\(counts)")
    #expect(counts.contains { 0 < $0 && $0 < Self.rows } && counts.contains(Self.rows + 1))
  }
}
