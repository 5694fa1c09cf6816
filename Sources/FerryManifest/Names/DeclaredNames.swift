/// The names that a manifest declares. A name is declared even if its declaration has mistakes.
struct DeclaredNames: Sendable {
  /// A section of the manifest; the raw value is its key.
  enum Space: String, CaseIterable, Sendable {
    case secrets
    case sessions
    case tokens
    case uploads
    case downloads
    case fetches
    case requests
    case onEnd = "on_end"
  }

  struct Declaration: Sendable {
    var name: Located<String>
    var node: YAMLNode
  }

  /// The declarations in the manifest's order.
  private(set) var ordered: [Space: [Declaration]] = [:]
  private var byName: [Space: [String: Declaration]] = [:]
  /// The names of the instances that `for_each` creates, by the node's name.
  private var instances: [String: [String]] = [:]
  /// Sections that could not be read as mappings. Their names are unknown, so names that might be in them
  /// are not reported as missing.
  private(set) var unreadable: Set<Space> = []

  mutating func add(_ name: Located<String>, _ node: YAMLNode, to space: Space) {
    let declaration = Declaration(name: name, node: node)
    ordered[space, default: []].append(declaration)
    byName[space, default: [:]][name.value] = declaration
  }

  /// Declares the instances that `for_each` creates from a declared node.
  mutating func add(_ instances: [String], of name: Located<String>, _ node: YAMLNode, to space: Space) {
    self.instances[name.value] = instances
    for instance in instances {
      byName[space, default: [:]][instance] = Declaration(
        name: Located(instance, at: name.location), node: node)
    }
  }

  /// The instances that `for_each` created from a node; empty if the node does not have `for_each`.
  func instances(of name: String) -> [String] { instances[name] ?? [] }

  func hasInstances(_ name: String) -> Bool { instances[name] != nil }

  mutating func markUnreadable(_ space: Space) { unreadable.insert(space) }

  func declaration(_ name: String, in space: Space) -> Declaration? { byName[space]?[name] }

  func names(in space: Space) -> [String] { (ordered[space] ?? []).map(\.name.value) }
}

extension DeclaredNames {
  /// The spaces whose names may be used in `needs`.
  static let nodeSpaces: [Space] = [.uploads, .downloads, .fetches, .requests]
}
