import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// The reports of a manifest's other parts: a shard reads that of `setup`, and the launch after the shards reads theirs.
struct ShardReports {
  /// The report of one part, or the reason why there is none.
  enum Last {
    case report(ReportSource)
    /// The reason why there is no report of the pass.
    case missing(String)
  }

  let folder: StateDirectory
  let manifest: String

  /// - Parameter folder: the state folder of one of the parts.
  init(beside folder: StateDirectory, manifest: String) {
    self.folder = folder
    self.manifest = manifest
  }

  /// The report of a part's last run, if that run belongs to a pass.
  ///
  /// - Parameters:
  ///   - round: the round of the launch, for the reason.
  ///   - pass: the pass; `nil` if it has not begun yet. A round of a shard with the same number may belong to another pass,
  ///     or to none.
  func last(of part: ShardMarker, inRound round: Int64, ofPass pass: String?) throws -> Last {
    let state = try folder.sibling(part)
    let history = try RunHistory.openForReading(in: state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    guard let run = try history.lastRun(of: manifest),
      let found = run.rounds.first(where: { $0.manifest == manifest })
    else { return .missing("has not run") }
    guard let pass, found.pass == pass else {
      let last = "\(found.pass == nil ? "its own round" : "round") \(found.number)"
      return .missing("has not run in round \(round) (its last run was in \(last))")
    }
    switch try run.stateOfShard(in: state) {
    case .ended: break
    case .running: return .missing("is running")
    case .runningElsewhere: return .missing("is running on another machine, or was interrupted there")
    case .interrupted: return .missing("was interrupted")
    case .notStarted: return .missing("has not run")
    }
    guard let source = try StoredReport.source(ofRun: run.id, in: state) else {
      return .missing("ended without a report")
    }
    return .report(source)
  }
}
