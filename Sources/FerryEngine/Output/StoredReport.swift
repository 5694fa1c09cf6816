import FerryJournal
import FerryPlan
import Foundation

/// A report of an earlier run in the state folder.
package enum StoredReport {
  /// - Parameter id: the run; `nil` for the last run that has a report.
  package static func find(
    _ id: String?, state: String?, environment: [String: String]
  ) throws -> [UInt8] {
    let directory = try StateDirectory(explicit: state, environment: environment)
    let history = try RunHistory.openForReading(in: directory)
    defer { try? history.close() }  // It was only read, so closing cannot lose data.
    let found: String?
    if let id {
      guard try history.run(id: id) != nil else {
        throw UsageError(
          "there is no run '\(DisplayPath.shown(id))' in \(directory.path)\n"
            + "help: runs are named as the folders in \(directory.runsFolder); without a name it is the last one"
        )
      }
      found = id
    } else {
      found = try history.runs(limit: 1).first?.id
    }
    guard let found else {
      throw UsageError(
        "there is no run in \(directory.path) yet\nhelp: 'ferry run' leaves a report; --state names another folder"
      )
    }
    guard let report = try directory.storedReport(ofRun: found) else {
      throw UsageError("run \(found) has no report yet: it is still running, or was killed and not resumed")
    }
    return report
  }
}
