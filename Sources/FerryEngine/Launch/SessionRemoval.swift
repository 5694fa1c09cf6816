import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess

/// The removal of a session with its journal (`force_quit: remove_session`).
package struct SessionRemoval {
  let history: RunHistory
  let environment: [String: String]

  /// Whether all readable manifests of a session request its removal.
  ///
  /// - Parameters:
  ///   - policies: the settings of the manifests that were already read.
  ///   - manifests: the names of the other manifests.
  func isRequested(by policies: [ForceQuit], and manifests: Set<String>) throws(JournalError) -> Bool {
    var policies = policies
    for manifest in manifests.sorted() where policies.allSatisfy({ $0 == .removeSession }) {
      if case .job(let job) = try KnownJobs(history: history, environment: environment).find(manifest) {
        policies.append(job.plan.policies.forceQuit)
      }
    }
    return !policies.isEmpty && policies.allSatisfy { $0 == .removeSession }
  }

  /// The reason why a session was kept.
  ///
  /// - Parameter undecided: the number of its items, requests and fetches whose requests may have been executed.
  package static func reason(keeping undecided: Int) -> String {
    "because \(Count.text(undecided, "request")) may have been executed; cancel it again after ferry resolve has recorded \(undecided == 1 ? "the decision" : "the decisions")"
  }
}
