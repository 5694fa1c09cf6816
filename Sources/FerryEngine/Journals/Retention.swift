import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// How long runs are remembered: their lines in `ferry.db`, and their reports.
///
/// Items that are delivered are remembered for ever, as nothing else keeps them from being sent again; only
/// `ferry journal prune --delivered` forgets them.
package struct Retention: Hashable, Sendable {
  /// How long after its end; `nil` for ever.
  package var runs: Duration?

  /// The variable that changes it.
  package static let variable = "FERRY_KEEP_RUNS"
  package static let standard = Retention(runs: .seconds(90 * 86_400))
  /// A run forgets so many at its end; the next ones go on.
  static let runsAtOnce = 100

  package init(runs: Duration?) { self.runs = runs }

  /// `FERRY_KEEP_RUNS`: a duration, or `forever`; 90 days without it.
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

  /// Forgets what is older, at most `count`; the last run of each manifest stays.
  ///
  /// A report goes before its line, so that a kill in between leaves none that nobody knows.
  ///
  /// - Returns: how many runs were forgotten.
  func enforce(
    _ history: RunHistory, in state: StateDirectory, at now: Instant, atMost count: Int = runsAtOnce
  ) throws -> Int {
    guard let runs else { return 0 }
    let old = try history.runs(endedBefore: now.advanced(by: .zero - runs), atMost: count)
    for run in old { try Self.removeReport(of: run, in: state) }
    try history.forget(runs: old)
    return old.count
  }

  /// What else lies in the folder is not ours, and stays.
  private static func removeReport(of run: String, in state: StateDirectory) throws {
    let report = try state.report(ofRun: run)
    guard unlink(report) == 0 || errno == ENOENT else {
      throw EngineFault(
        .fault, "\(report): the report of an old run cannot be removed: \(String(cString: strerror(errno)))")
    }
    rmdir(try state.folder(ofRun: run))
  }
}
