/// One of the nodes that `for_each` makes: what `${each.…}` stands for in it.
struct EachInstance: Sendable {
  let key: String
  var value: Value
  /// Fields that have a mistake in them, which has been told.
  var broken: Set<String> = []
  /// Its name or value has something of the environment or the command line in it.
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
  /// The name that the manifest gives a node, without its instance.
  static func base(of name: String) -> String { String(name.prefix { $0 != "[" }) }
}
