/// What is known before a run: `vars`, what the command line gives, and the environment.
struct Variables: Sendable {
  enum Value: Equatable, Sendable {
    case text(String)
    /// Something is wrong with it, and has been told.
    case broken
  }

  let environment: [String: String]
  /// They win over `vars`.
  let given: [String: GivenVariables.Value]
  /// What the command line gives is no text.
  let broken: Set<String>

  /// `vars` by name.
  private(set) var declared: [String: Variable] = [:]
  private var order: [String] = []
  /// `vars` is no mapping, or a part of the manifest could not be read: nobody knows what is declared.
  var isUnreadable = false
  var resolved: [String: Value] = [:]
  /// Those of them that have something of the environment or the command line in them.
  var fromOutside: Set<String> = []
  /// The variables whose values are being put together, from the outside in.
  var underway: [Located<String>] = []
  private var environmentUses: Set<EnvironmentUse> = []
  /// Bytes that variables and the environment may still bring: each could stand for more of the next.
  var budget = 64 << 20

  /// Variables inside variables.
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

  /// What the manifest asks the environment for, in the order of its text.
  var uses: [EnvironmentUse] { environmentUses.sorted { $0.location < $1.location } }

  /// What the command line gives to variables that are declared.
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
