/// Why work failed or waits. Raw values are persisted and reported; never change one.
///
/// A struct, not an enum: a journal or report of another version may contain codes that this one does not know.
package struct FailureCode: RawRepresentable, Hashable, Codable, Sendable {
  package var rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  /// The failure of a request that got no usable response.
  package init(_ code: TransportFailure.Code) { rawValue = code.rawValue }
}

extension FailureCode: CustomStringConvertible {
  package var description: String { rawValue }
}

extension FailureCode {
  /// The delivered file is no longer the one that was sent.
  package static let afterChanged = FailureCode(rawValue: "after_changed")
  /// Another file has the name in the folder of `move_to`.
  package static let afterExists = FailureCode(rawValue: "after_exists")
  /// A delivered file could not be deleted or moved.
  package static let afterFailed = FailureCode(rawValue: "after_failed")
  /// The folder of `move_to` is on another file system.
  package static let afterFileSystem = FailureCode(rawValue: "after_file_system")
  /// The folder of a delivered file, or that of `move_to`, cannot be used.
  package static let afterFolder = FailureCode(rawValue: "after_folder")
  /// A delivered file was gone before it could be moved, or its root is empty.
  package static let afterMissing = FailureCode(rawValue: "after_missing")
  /// Delivered files are still to be deleted or moved.
  package static let afterOwed = FailureCode(rawValue: "after_owed")
  /// The user does not have permission to delete or move a delivered file.
  package static let afterPermission = FailureCode(rawValue: "after_permission")
  /// It is not known which file was sent.
  package static let afterUnknown = FailureCode(rawValue: "after_unknown")
  /// A request may have been executed, and its response was lost.
  package static let responseLost = FailureCode(rawValue: "answer_lost")
  /// The budget has too little room until its next window.
  package static let budget = FailureCode(rawValue: "budget")
  /// The file is larger than the whole budget.
  package static let budgetNever = FailureCode(rawValue: "budget_never")
  /// `ferry cancel`.
  package static let cancelled = FailureCode(rawValue: "cancelled")
  /// The session's resume delay.
  package static let delay = FailureCode(rawValue: "delay")
  /// There is nothing to do.
  package static let done = FailureCode(rawValue: "done")
  /// The launch's execution window has ended.
  package static let expired = FailureCode(rawValue: "expired")
  /// The status of the response means a failure.
  package static let httpStatus = FailureCode(rawValue: "http_status")
  /// The upload ID expired before its transfer.
  package static let uploadIDExpired = FailureCode(rawValue: "id_expired")
  /// Items of the node remain for a later run.
  package static let itemsRemaining = FailureCode(rawValue: "items_left")
  /// `--limit` is reached.
  package static let limit = FailureCode(rawValue: "limit")
  /// `--max-duration` has passed.
  package static let maxDuration = FailureCode(rawValue: "max_duration")
  /// The node waits for the nodes that it needs, or they did not end as it requires.
  package static let needs = FailureCode(rawValue: "needs")
  /// The network is missing, or the session does not allow it.
  package static let network = FailureCode(rawValue: "network")
  /// The interval of the fetch is `never`.
  package static let never = FailureCode(rawValue: "never")
  /// The fetch is not due yet.
  package static let notDue = FailureCode(rawValue: "not_due")
  /// There is no external power.
  package static let power = FailureCode(rawValue: "power")
  /// A signal stopped the launch.
  package static let stopped = FailureCode(rawValue: "stopped")
  /// The token could not be fetched.
  package static let token = FailureCode(rawValue: "token")
  /// Other work goes first.
  package static let turn = FailureCode(rawValue: "turn")
  /// The server rejected the token.
  package static let unauthorized = FailureCode(rawValue: "unauthorized")
  /// The response does not match `expect`.
  package static let unexpectedResponse = FailureCode(rawValue: "unexpected_answer")
  /// It waits for its turn.
  package static let waiting = FailureCode(rawValue: "waiting")
}
