/// The names that a manifest declares, taken from its text: one whose declaration has mistakes is declared too.
struct DeclaredNames: Sendable {
  /// A section of the manifest; the raw value is its key.
  enum Space: String, CaseIterable, Sendable {
    case secrets
    case sessions
    case tokens
    case uploads
    case fetches
    case requests
  }

  struct Declaration: Sendable {
    var name: Located<String>
    var node: YAMLNode
  }

  /// In the manifest's order.
  private(set) var ordered: [Space: [Declaration]] = [:]
  private var byName: [Space: [String: Declaration]] = [:]
  /// What `for_each` makes of a node, by the node's name.
  private var instances: [String: [String]] = [:]
  /// What could not be read as a mapping: nobody knows what it declares, so nothing is said to be missing.
  private(set) var unreadable: Set<Space> = []

  mutating func add(_ name: Located<String>, _ node: YAMLNode, to space: Space) {
    let declaration = Declaration(name: name, node: node)
    ordered[space, default: []].append(declaration)
    byName[space, default: [:]][name.value] = declaration
  }

  /// Declares what a `for_each` makes of a node that is declared already.
  mutating func add(_ instances: [String], of name: Located<String>, _ node: YAMLNode, to space: Space) {
    self.instances[name.value] = instances
    for instance in instances {
      byName[space, default: [:]][instance] = Declaration(
        name: Located(instance, at: name.location), node: node)
    }
  }

  /// What `for_each` made of a node; empty for one that has none.
  func instances(of name: String) -> [String] { instances[name] ?? [] }

  func hasInstances(_ name: String) -> Bool { instances[name] != nil }

  mutating func markUnreadable(_ space: Space) { unreadable.insert(space) }

  func declaration(_ name: String, in space: Space) -> Declaration? { byName[space]?[name] }

  func names(in space: Space) -> [String] { (ordered[space] ?? []).map(\.name.value) }
}

extension DeclaredNames {
  /// The spaces whose names `needs` may use.
  static let nodeSpaces: [Space] = [.uploads, .fetches, .requests]
}
