/// The parts of a session that `ferry cancel` removes.
package enum ForceQuit: String, CaseIterable, Codable, Sendable {
  /// The session's tasks are canceled; the session remains.
  case cancelTasks = "cancel_tasks"
  /// The session and its tasks are removed, as in iOS 7.
  case removeSession = "remove_session"
}
