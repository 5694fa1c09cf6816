import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// A run of a part, whose report is in a state folder, in a file, or in both.
struct PartRun {
  var part: ShardPart
  var manifest: String?
  var id: String
  var round: Int64
  var pass: String?
  var startedAt: String
  /// The run in the state folder of its part; `nil` if only a file has its report.
  var stored: (row: RunRow, state: StateDirectory)?
  /// Whether the round of the run in the state folder has been closed.
  var isRoundClosed = false
  /// The report in a file.
  var file: ReportSource?

  /// What the runs of all parts in one pass have in common.
  enum Pass: Hashable {
    case shared(String)
    /// The round of a shard that runs by itself, or of a run in an older version of ferry.
    case own(Int64)
  }

  var ofPass: Pass { pass.map(Pass.shared) ?? .own(round) }

  /// The run of a report in a file.
  ///
  /// - Throws: `UsageError` if it is not a run of a shard.
  init(file source: ReportSource) throws(UsageError) {
    let run = source.record.run
    // ferry wrote this value; any other value does not identify a part.
    guard let text = run.shard, let part = try? ShardArgument.part(text, environment: [:]) else {
      throw UsageError(
        "run \(run.id) is not a run of a shard\nhelp: 'ferry report' shows reports of runs without --shard")
    }
    (self.part, manifest, id) = (part, run.manifest, run.id)
    (round, pass, startedAt) = (run.round ?? 0, run.pass, run.startedAt)
    file = source
  }

  /// A run in the state folder of its part; `nil` if it is unknown which part it executed.
  private init?(_ row: RunRow, _ marker: ShardMarker, in state: StateDirectory) {
    guard let round = row.rounds.first else { return nil }
    // ferry wrote this value; any other value does not identify a part.
    let recorded = row.part.flatMap { try? ShardArgument.part($0, environment: [:]) }
    switch (marker, recorded) {
    case (.shard(let shard), _): part = .items(shard)
    case (.once(let count), .some(let found)) where found.shard == nil && found.count == count: part = found
    case (.once, _): return nil
    }
    (manifest, id, self.round) = (round.manifest, row.id, round.number)
    (pass, startedAt) = (round.pass, row.startedAt.rfc3339)
    stored = (row, state)
  }

  /// The runs in the state folder of a part, in the order in which they began according to the journal. Their times do
  /// not show this order if the clock was changed.
  static func runs(in folder: ShardFolders.Part) throws -> [PartRun] {
    let history = try RunHistory.openForReading(in: folder.state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    return try history.runs().reversed().compactMap { row in
      guard var run = PartRun(row, folder.marker, in: folder.state) else { return nil }
      if let round = try history.latestRound(manifest: run.manifest ?? "") {
        // Only the latest round can be open.
        run.isRoundClosed = round.number > run.round || round.closedAt != nil
      }
      return run
    }
  }

  /// The report; `nil` if there is none.
  func report() throws -> ReportSource? {
    if let file { return file }
    guard let stored, let source = try StoredReport.source(ofRun: id, in: stored.state) else { return nil }
    try Self.checkExitCode(of: source, at: stored.state.report(ofRun: id))
    return source
  }

  /// The state of a run that has no report.
  func unreported() throws(JournalError) -> RunRecord.Unreported? {
    guard let (row, state) = stored else { return nil }
    let word: RunRecord.ShardRecord.State =
      switch try row.stateOfShard(in: state) {
      case .ended, .notStarted: .missing
      case .running: .running
      case .runningElsewhere: .runningElsewhere
      case .interrupted: .interrupted
      }
    return .init(
      id: id, state: word, startedAt: startedAt, endedAt: row.endedAt?.rfc3339, exitCode: row.exitCode)
  }

  /// Rejects a report with an exit code that no run can have.
  static func checkExitCode(of source: ReportSource, at path: String) throws(UsageError) {
    let code = source.record.run.exitCode
    guard ExitCode(rawValue: code) == nil else { return }
    throw UsageError(
      "\(DisplayPath.shown(path)): is not a report of ferry: it has the exit code \(code), which no run can have"
    )
  }
}
