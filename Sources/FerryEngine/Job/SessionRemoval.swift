import FerryPlan
import FerryProcess

/// The removal of a session with its journal (`force_quit: remove_session`).
package enum SessionRemoval {
  /// The reason why a session was kept.
  ///
  /// - Parameter undecided: the number of its items, requests and fetches that are ambiguous.
  package static func reason(keeping undecided: Int) -> String {
    "because of \(Count.text(undecided, "ambiguous item")); cancel it again after \(undecided == 1 ? "it has" : "they have") been resolved"
  }
}
