import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// The retention period of runs: their rows in `ferry.db`, and their reports.
///
/// Delivered items are kept indefinitely, because only their records prevent them from being sent again.
/// Only `ferry journal prune --delivered` removes them.
package struct Retention: Hashable, Sendable {
  /// The time for which a run is kept after its end; `nil` means indefinitely.
  package var runs: Duration?

  /// The environment variable that sets the retention period.
  package static let variable = "FERRY_KEEP_RUNS"
  package static let standard = Retention(runs: .seconds(90 * 86_400))
  /// The maximum number of runs removed at the end of a run. Later runs remove the others.
  static let runsAtOnce = 100

  package init(runs: Duration?) { self.runs = runs }

  /// Reads `FERRY_KEEP_RUNS`: a duration, or `forever`. The default is 90 days.
  package init(environment: [String: String]) throws(UsageError) {
    guard let text = environment[Self.variable], !text.isEmpty else {
      self = .standard
      return
    }
    guard text != "forever" else {
      self.init(runs: nil)
      return
    }
    do {
      self.init(runs: try Duration(written: text))
    } catch {
      throw UsageError("\(Self.variable) is '\(text)': \(error), or 'forever'")
    }
  }

  /// Removes runs that ended before the retention period, at most `count`; the last run of each manifest is kept.
  ///
  /// A report is removed before its row, so that a kill in between does not leave a report without a row.
  ///
  /// - Returns: the number of runs removed.
  func enforce(
    _ history: RunHistory, in state: StateDirectory, at now: Instant, atMost count: Int = runsAtOnce
  ) throws -> Int {
    guard let runs else { return 0 }
    let old = try history.runs(endedBefore: now.advanced(by: .zero - runs), atMost: count)
    for run in old { try Self.removeReport(of: run, in: state) }
    try history.forget(runs: old)
    return old.count
  }

  /// Removes ferry's own report. Other files in the folder are kept.
  private static func removeReport(of run: String, in state: StateDirectory) throws {
    let report = try state.report(ofRun: run)
    guard unlink(report) == 0 || errno == ENOENT else {
      throw EngineFault(
        .fault, "\(report): cannot remove the report of an old run: \(String(cString: strerror(errno)))")
    }
    // A run that could not write its final report leaves the report of its work.
    unlink(try state.workReport(ofRun: run))
    // A run that was killed leaves its progress file.
    ProgressFile.remove(ofRun: run, in: state)
    rmdir(try state.folder(ofRun: run))
  }
}
