/// A place that names a session, a token or a node.
struct NameUse: Sendable {
  enum Purpose: Sendable {
    case session
    case token
    case needs
  }
  var purpose: Purpose
  var name: Located<String>
  var place: Place
}
