import FerryPlan
import FerryProcess

/// The removal of a session with its journal (`force_quit: remove_session`).
package enum SessionRemoval {
  /// The reason why a session was kept.
  ///
  /// - Parameter undecided: the number of its items, requests and fetches whose requests may have been executed.
  package static func reason(keeping undecided: Int) -> String {
    "because \(Count.text(undecided, "request")) may have been executed; cancel it again after ferry resolve has recorded \(undecided == 1 ? "the decision" : "the decisions")"
  }
}
