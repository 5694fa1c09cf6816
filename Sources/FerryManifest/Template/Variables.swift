/// What is known before a run: `vars`, `--var` and the environment.
struct Variables: Sendable {
  enum Value: Equatable, Sendable {
    case text(String)
    /// Something is wrong with it, and has been told.
    case broken
  }

  let environment: [String: String]
  /// `--var NAME=VALUE`; they win over `vars`.
  let overrides: [String: String]

  /// `vars` as written; nil where it is no mapping, so that nobody knows what it declares.
  var written: [String: YAMLNode]? = [:]
  var resolved: [String: Value] = [:]
  /// The variables whose values are being put together, from the outside in.
  var underway: [Located<String>] = []
  var environmentUses: [EnvironmentUse] = []
  /// Bytes that variables and the environment may still bring: each could stand for more of the next.
  var budget = 64 << 20

  /// Variables inside variables.
  static let deepest = 50

  init(environment: [String: String], overrides: [String: String]) {
    self.environment = environment
    self.overrides = overrides
  }
}
