/// A step for which other steps can wait.
enum GraphVertex: Hashable, Sendable {
  case node(String)
  case token(String)
  /// A request of `on_end`, for which nothing waits.
  case onEnd(String)

  var isToken: Bool { if case .token = self { true } else { false } }

  var name: String {
    switch self {
    case .node(let name), .token(let name), .onEnd(let name): name
    }
  }
}
