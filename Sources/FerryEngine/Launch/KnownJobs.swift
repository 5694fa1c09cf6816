import FerryJournal
import FerryPlan

/// Manifests of earlier runs, read again in their current version.
struct KnownJobs {
  let history: RunHistory
  let environment: [String: String]

  enum Found {
    case job(Job)
    /// The reason why the manifest cannot be read.
    case unreadable(String)
  }

  func find(_ manifest: String) throws(JournalError) -> Found {
    guard let row = try history.job(manifest: manifest) else {
      return .unreadable("the path of the manifest is unknown")
    }
    do {
      // The manifest may have come from a pipe, which has no writer now.
      let reading = try Job.read(
        path: row.path, variables: row.variables, environment: environment, waits: false)
      guard let job = reading.job else {
        return .unreadable("\(row.path) is invalid; 'ferry check' reports its errors")
      }
      guard job.plan.manifest == manifest else {
        return .unreadable("\(row.path) now contains manifest '\(job.plan.manifest)'")
      }
      return .job(job)
    } catch {
      return .unreadable(error.description)
    }
  }

  /// The sessions that the manifests use; `nil` if one of the manifests cannot be read.
  func sessions(of manifests: [String]) throws(JournalError) -> Set<String>? {
    var sessions: Set<String> = []
    for manifest in manifests {
      guard case .job(let job) = try find(manifest) else { return nil }
      sessions.formUnion(job.plan.sessions.map(\.identifier))
    }
    return sessions
  }
}
