/// A step for which other steps can wait.
enum GraphVertex: Hashable, Sendable {
  case node(String)
  case token(String)

  var name: String {
    switch self {
    case .node(let name), .token(let name): name
    }
  }
}
