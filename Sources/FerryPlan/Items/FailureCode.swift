/// The reason why work failed or is waiting. The raw values are persisted and reported, and must never
/// change.
///
/// This is a struct, not an enum, because a journal or report of another version may contain unknown codes.
package struct FailureCode: RawRepresentable, Hashable, Codable, Sendable {
  package var rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  /// The failure of a request without a usable response.
  package init(_ code: TransportFailure.Code) { rawValue = code.rawValue }
}

extension FailureCode: CustomStringConvertible {
  package var description: String { rawValue }
}

extension FailureCode {
  /// The delivered file is no longer the file that was sent.
  package static let afterChanged = FailureCode(rawValue: "after_changed")
  /// Another file has the same name in the folder of `move_to`.
  package static let afterExists = FailureCode(rawValue: "after_exists")
  /// A delivered file could not be deleted or moved.
  package static let afterFailed = FailureCode(rawValue: "after_failed")
  /// The folder of `move_to` is on a different file system.
  package static let afterFileSystem = FailureCode(rawValue: "after_file_system")
  /// The folder of a delivered file, or the folder of `move_to`, cannot be used.
  package static let afterFolder = FailureCode(rawValue: "after_folder")
  /// A delivered file disappeared before it could be moved, or the root of its upload is empty.
  package static let afterMissing = FailureCode(rawValue: "after_missing")
  /// Delivered files still have to be deleted or moved.
  package static let afterOwed = FailureCode(rawValue: "after_owed")
  /// The user does not have permission to delete or move a delivered file.
  package static let afterPermission = FailureCode(rawValue: "after_permission")
  /// The identity of the sent file is unknown.
  package static let afterUnknown = FailureCode(rawValue: "after_unknown")
  /// A request may have been executed, but its response was lost.
  package static let responseLost = FailureCode(rawValue: "answer_lost")
  /// The remaining budget is too small until the next window.
  package static let budget = FailureCode(rawValue: "budget")
  /// The file is larger than the budget of every network that its session may use.
  package static let budgetNever = FailureCode(rawValue: "budget_never")
  /// `ferry cancel` canceled the work.
  package static let cancelled = FailureCode(rawValue: "cancelled")
  /// The commit failed, and the transfer that preceded it must not be repeated.
  package static let commitFailed = FailureCode(rawValue: "commit_failed")
  /// The session's resume delay applies.
  package static let delay = FailureCode(rawValue: "delay")
  /// There is nothing to do.
  package static let done = FailureCode(rawValue: "done")
  /// The launch's execution window has ended.
  package static let expired = FailureCode(rawValue: "expired")
  /// The response status indicates a failure.
  package static let httpStatus = FailureCode(rawValue: "http_status")
  /// The upload ID expired before the file was transferred.
  package static let uploadIDExpired = FailureCode(rawValue: "id_expired")
  /// Items of the node remain for a later run.
  package static let itemsRemaining = FailureCode(rawValue: "items_left")
  /// The limit set by `--limit` has been reached.
  package static let limit = FailureCode(rawValue: "limit")
  /// The time limit set by `--max-duration` has passed.
  package static let maxDuration = FailureCode(rawValue: "max_duration")
  /// The node is waiting for its dependencies, or their outcomes do not satisfy its `when`.
  package static let needs = FailureCode(rawValue: "needs")
  /// There is no network, or the session does not allow the current one.
  package static let network = FailureCode(rawValue: "network")
  /// The interval of the fetch is `never`.
  package static let never = FailureCode(rawValue: "never")
  /// `cache_policy` does not allow a request, and no document is stored.
  package static let notStored = FailureCode(rawValue: "not_stored")
  /// `cache_policy` uses the stored document.
  package static let stored = FailureCode(rawValue: "stored")
  /// The fetch is not due yet.
  package static let notDue = FailureCode(rawValue: "not_due")
  /// There is no external power.
  package static let power = FailureCode(rawValue: "power")
  /// `ferry resolve` has recorded that a request or fetch was executed.
  package static let resolved = FailureCode(rawValue: "resolved")
  /// The root of an upload does not exist: it was moved or removed, or it is not mounted.
  package static let rootMissing = FailureCode(rawValue: "root_missing")
  /// The root of an upload cannot be opened.
  package static let rootUnreadable = FailureCode(rawValue: "root_unreadable")
  /// `ferry cancel` canceled the work under `force_quit: remove_session`.
  package static let sessionRemoved = FailureCode(rawValue: "session_removed")
  /// Shards have not sent all items of the upload yet.
  package static let shards = FailureCode(rawValue: "shards")
  /// A signal stopped the launch.
  package static let stopped = FailureCode(rawValue: "stopped")
  /// The token could not be fetched.
  package static let token = FailureCode(rawValue: "token")
  /// Other work has precedence.
  package static let turn = FailureCode(rawValue: "turn")
  /// The server rejected the token.
  package static let unauthorized = FailureCode(rawValue: "unauthorized")
  /// The response does not match `expect`.
  package static let unexpectedResponse = FailureCode(rawValue: "unexpected_answer")
  /// The work is waiting for its turn.
  package static let waiting = FailureCode(rawValue: "waiting")
}
