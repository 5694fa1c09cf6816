/// A violation of a rule in a world.
package struct Violation: Hashable, Sendable {
  /// The rules. Their names appear in reports.
  package enum Rule: String, Hashable, Sendable, CaseIterable {
    case nothingLost = "nothing_lost"
    case nothingTwice = "nothing_twice"
    case budget
    case network
    case connections
    case resumeDelay = "resume_delay"
    case window
    case priority
    case starvation
    case busyLoop = "busy_loop"
    case intent
    case commitAfterSync = "commit_after_sync"
    /// An upload ID was released although it is in use or its file counts as delivered.
    case release
    case deadline
    /// The rule for `timeout_for_resource`.
    case resource
    case stop
    case limit
    /// A fetch that had failed was sent again before the minimum of its interval had passed.
    case interval
    case cancel
    case needs
    case token
    case sameHistory = "same_history"
    case requests
    case stuck
    /// The scheduler's state is contradictory (`checkInvariants`).
    case invariant
    /// A part was sent at an offset other than the server's, or an incomplete file counts as sent.
    case offset
    /// An upload was continued after the expiry that the server had stated.
    case expiry
  }

  package var rule: Rule
  package var message: String
}
