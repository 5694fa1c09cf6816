/// The state of a node or an item, as used in reports, plans and explanations. The raw values are a stable
/// public interface.
package enum ReportState: String, Codable, Sendable {
  // A node in a report.
  case succeeded, failed, ambiguous, skipped
  /// The item, or part of the node, remains for a later run.
  case waiting
  case notSelected = "not_selected"
  /// A token that was not fetched.
  case notNeeded = "not_needed"

  /// `ferry cancel` ended the item or single request, or ended the upload, and none of its items failed.
  case cancelled

  // An item.
  case done
  /// The states of an item that is open in its round, as recorded in the journal.
  case queued, allocated, transferred
  /// The item is not in the journal yet.
  case new

  // A node in a plan.
  case run
  /// A token, which is fetched when needed.
  case ask
  case notDue = "not_due"
  /// A fetch with the interval `never`.
  case never
  /// A fetch whose `cache_policy` uses the stored document.
  case stored

  package init(_ outcome: NodeOutcome) {
    switch outcome {
    case .succeeded: self = .succeeded
    case .failed: self = .failed
    case .ambiguous: self = .ambiguous
    case .skipped: self = .skipped
    }
  }

  /// The state of an item in the journal.
  package init(_ state: ItemState) {
    switch state {
    case .queued: self = .queued
    case .allocated: self = .allocated
    case .transferred: self = .transferred
    case .done: self = .done
    case .failed: self = .failed
    case .ambiguous: self = .ambiguous
    case .cancelled: self = .cancelled
    }
  }
}

extension ReportState: CustomStringConvertible {
  /// The word in text output, which differs from the raw value only in its spelling.
  package var description: String { self == .cancelled ? "canceled" : rawValue }
}

/// How a run ended. The raw values are a stable public interface.
package enum RunState: String, Codable, Sendable {
  case ended
  /// The process was terminated.
  case interrupted
}

extension RunState: CustomStringConvertible {
  package var description: String { rawValue }
}
