/// A place that names a session, a token or a node.
struct NameUse: Sendable {
  enum Purpose: Sendable {
    case session
    case token
    case needs
    /// The fetch that stores a list.
    case fetch

    var key: String {
      switch self {
      case .session: "session"
      case .token: "token"
      case .needs: "needs"
      case .fetch: "from"
      }
    }
  }
  var purpose: Purpose
  var name: Located<String>
  var place: Place
  /// Whether the name comes from the environment or the command line.
  var isFromOutside = false
}
