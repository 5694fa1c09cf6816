/// The values known before a run: `vars`, values from the command line, and the environment.
struct Variables: Sendable {
  enum Value: Equatable, Sendable {
    case text(String)
    /// The variable has a mistake, which has been reported.
    case broken
  }

  let environment: [String: String]
  /// Values from the command line, which take precedence over `vars`.
  let given: [String: GivenVariables.Value]
  /// Variables whose value from the command line is not a string.
  let broken: Set<String>

  /// The variables in `vars`, by name.
  private(set) var declared: [String: Variable] = [:]
  private var order: [String] = []
  /// Whether `vars` is not a mapping, or a part of the manifest could not be read. The declared names are
  /// then unknown.
  var isUnreadable = false
  var resolved: [String: Value] = [:]
  /// Resolved variables that contain text from the environment or the command line.
  var fromOutside: Set<String> = []
  /// The variables being resolved, outermost first.
  var underway: [Located<String>] = []
  private var environmentUses: Set<EnvironmentUse> = []
  /// The number of bytes that variables and the environment may still supply. It is limited because each
  /// variable can multiply the text of another.
  var budget = 64 << 20

  /// The maximum depth of nested variables.
  static let deepest = 50

  init(environment: [String: String], given: GivenVariables) {
    self.environment = environment
    self.given = given.values
    broken = given.broken
  }

  mutating func declare(_ variable: Variable) {
    declared[variable.name.value] = variable
    order.append(variable.name.value)
  }

  mutating func note(_ use: EnvironmentUse) { environmentUses.insert(use) }

  var names: [String] { declared.keys.sorted() }

  /// The environment variables that the manifest uses, in the order of its text.
  var uses: [EnvironmentUse] { environmentUses.sorted { $0.location < $1.location } }

  /// The values that the command line sets for declared variables.
  var givenTexts: [String: String] {
    given.filter { declared[$0.key] != nil }.mapValues(\.text)
  }

  /// The variables in the order of their declarations.
  var needs: [RequiredVariable] {
    order.compactMap { name in
      declared[name].map {
        RequiredVariable(
          name: name, location: $0.name.location, type: $0.kind.rawValue, description: $0.description,
          isRequired: $0.isRequired, isGiven: given[name] != nil)
      }
    }
  }
}
