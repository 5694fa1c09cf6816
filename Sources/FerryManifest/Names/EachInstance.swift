/// One of the nodes that `for_each` creates, with the values of `${each.…}` in it.
struct EachInstance: Sendable {
  let key: String
  var value: Value
  /// Fields with mistakes that have already been reported.
  var broken: Set<String> = []
  /// Whether the name or value contains text from the environment or the command line.
  var isFromOutside = false

  enum Value: Sendable {
    case text(String)
    /// `${each.value.NAME}`.
    case fields([String: String])
  }

  /// The name of a node in this instance, such as `photos[eu]`.
  func name(_ node: String) -> String { "\(node)[\(key)]" }
}

extension EachInstance {
  /// The node's name in the manifest, without the instance.
  static func base(of name: String) -> String { String(name.prefix { $0 != "[" }) }
}
