/// One of the nodes that `for_each` creates, with the values of `${each.…}` in it.
struct EachInstance: Sendable {
  let key: String
  var value: Value
  /// Fields with a mistake, which has already been reported.
  var broken: Set<String> = []
  /// Whether its name or value contains something from the environment or the command line.
  var isFromOutside = false

  enum Value: Sendable {
    case text(String)
    /// `${each.value.NAME}`.
    case fields([String: String])
  }

  /// The name of a node of this instance: `photos[eu]`.
  func name(_ node: String) -> String { "\(node)[\(key)]" }
}

extension EachInstance {
  /// The node's name in the manifest, without its instance.
  static func base(of name: String) -> String { String(name.prefix { $0 != "[" }) }
}
