/// What `ferry cancel` leaves of a session.
package enum ForceQuit: String, CaseIterable, Codable, Sendable {
  /// Its tasks are cancelled, the session stays.
  case cancelTasks = "cancel_tasks"
  /// Session and tasks vanish, as in iOS 7.
  case removeSession = "remove_session"

  package init(_ profile: Profile) {
    switch profile {
    case .server, .ios: self = .cancelTasks
    case .ios7: self = .removeSession
    }
  }
}
