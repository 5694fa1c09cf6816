/// Builds the tree from libyaml's events, in bounded time and memory.
struct YAMLComposer {
  /// Levels of lists and mappings. libyaml has no bound of its own.
  static let deepest = 100
  /// Values in all, those that aliases stand for counted each time: an alias bomb ends here.
  static let mostNodes = 250_000
  /// Bytes of text that aliases stand for: a long text behind many aliases is a bomb of few values.
  static let mostAliasedText = 1 << 20

  private(set) var root: YAMLNode?
  private(set) var diagnostics: [Diagnostic] = []
  /// Reading stopped before the document's end.
  private(set) var isBroken = false

  private let file: String
  private var stack: [Frame] = []
  private var anchors: [String: Anchored] = [:]
  private var nodeCount = 0
  /// Bytes of all scalars, those that aliases stand for counted each time.
  private var textCount = 0
  private var aliasedText = 0
  private var hasDocument = false

  init(file: String) { self.file = file }

  /// A list or mapping that is still open.
  private struct Frame {
    enum Content {
      case sequence([YAMLNode])
      case mapping([YAMLNode.Member], pending: PendingKey?)
    }
    var content: Content
    var location: SourceLocation
    var anchor: String?
    /// `nodeCount` and `textCount` before it.
    var countBefore: Int
    var textBefore: Int
    /// Where each key of a mapping stands.
    var seen: [String: SourceLocation] = [:]
  }

  /// What an alias stands for, and how many values and bytes of text are in it.
  private struct Anchored {
    var node: YAMLNode
    var weight: Int
    var text: Int
  }

  private enum PendingKey {
    case usable(Located<String>)
    /// Told already; its value is read and dropped.
    case refused
  }

  /// Takes one event; false ends the reading.
  mutating func handle(_ event: YAMLEvent) -> Bool {
    let location = SourceLocation(file: file, line: event.line + 1, column: event.column + 1)
    switch event.kind {
    case .other:
      return true
    case .documentStart:
      guard !hasDocument else {
        return stop(
          Diagnostic(
            .secondDocument, at: location, "a second document begins here",
            help: "a manifest is one document; put the other into a file of its own"))
      }
      hasDocument = true
      return true
    case .alias(let name):
      guard let anchored = anchors[name] else {
        diagnostics.append(unknownAlias(name, at: location))
        return add(
          YAMLNode(location: location, content: .sequence([])), weight: 1, isKnown: false, at: location)
      }
      textCount += anchored.text
      aliasedText += anchored.text
      guard aliasedText <= Self.mostAliasedText else {
        return stop(
          Diagnostic(
            .tooManyValues, at: location,
            "aliases stand for more than \(Self.mostAliasedText >> 20) MiB of text",
            help: "an alias counts as often as it is used; use fewer, or put the text into 'vars'"))
      }
      return add(anchored.node, weight: anchored.weight, at: location)
    case .scalar(var scalar, let properties):
      scalar.forcedType = forcedType(of: scalar, tag: properties.tag, at: location)
      let node = YAMLNode(location: location, content: .scalar(scalar))
      let text = scalar.text.utf8.count
      textCount += text
      if let anchor = properties.anchor { anchors[anchor] = Anchored(node: node, weight: 1, text: text) }
      return add(node, weight: 1, at: location)
    case .sequenceStart(let properties):
      check(tag: properties.tag, is: "seq", at: location)
      return open(.sequence([]), properties, at: location)
    case .mappingStart(let properties):
      check(tag: properties.tag, is: "map", at: location)
      return open(.mapping([], pending: nil), properties, at: location)
    case .collectionEnd:
      return close()
    }
  }

  private mutating func stop(_ diagnostic: Diagnostic) -> Bool {
    diagnostics.append(diagnostic)
    isBroken = true
    return false
  }

  private mutating func open(
    _ content: Frame.Content, _ properties: YAMLEvent.Properties, at location: SourceLocation
  ) -> Bool {
    guard stack.count < Self.deepest else {
      return stop(
        Diagnostic(
          .nestedTooDeep, at: location, "lists and mappings are nested deeper than \(Self.deepest) levels",
          help: "a manifest needs far fewer; look for brackets that are not closed"))
    }
    stack.append(
      Frame(
        content: content, location: location, anchor: properties.anchor, countBefore: nodeCount,
        textBefore: textCount))
    return true
  }

  private mutating func close() -> Bool {
    guard let frame = stack.popLast() else { return true }
    let node: YAMLNode
    switch frame.content {
    case .sequence(let elements):
      node = YAMLNode(location: frame.location, content: .sequence(elements))
    case .mapping(let members, pending: _):
      node = YAMLNode(location: frame.location, content: .mapping(members))
    }
    if let anchor = frame.anchor {
      anchors[anchor] = Anchored(
        node: node, weight: nodeCount - frame.countBefore + 1, text: textCount - frame.textBefore)
    }
    return add(node, weight: 1, at: frame.location)
  }

  /// Puts a finished value into the list or mapping that is open.
  ///
  /// - Parameter location: where it is written; for an alias, not where its value is.
  private mutating func add(
    _ node: YAMLNode, weight: Int, isKnown: Bool = true, at location: SourceLocation
  ) -> Bool {
    nodeCount += weight
    guard nodeCount <= Self.mostNodes else {
      return stop(
        Diagnostic(
          .tooManyValues, at: location,
          "the manifest has more than \(Self.mostNodes) values, counting what aliases stand for",
          help: "an alias counts as often as it is used; use fewer, or name files in a `list:` file"))
    }
    guard var frame = stack.popLast() else {
      root = node
      return true
    }
    switch frame.content {
    case .sequence(var elements):
      // The frame lets go of its array, so that appending copies nothing.
      frame.content = .sequence([])
      if isKnown { elements.append(node) }
      frame.content = .sequence(elements)
    case .mapping(let members, pending: nil):
      frame.content = .mapping([], pending: nil)
      frame.content = .mapping(members, pending: key(node, seen: &frame.seen, isKnown: isKnown, at: location))
    case .mapping(var members, pending: .some(let pending)):
      frame.content = .mapping([], pending: nil)
      if case .usable(let key) = pending, isKnown { members.append(.init(key: key, value: node)) }
      frame.content = .mapping(members, pending: nil)
    }
    stack.append(frame)
    return true
  }

  private mutating func key(
    _ node: YAMLNode, seen: inout [String: SourceLocation], isKnown: Bool, at location: SourceLocation
  ) -> PendingKey {
    guard isKnown else { return .refused }
    // The language has a key `null`; a word in a key's place is meant as a word.
    guard let scalar = node.scalar, scalar.value == .string || scalar.text == "null" else {
      diagnostics.append(
        Diagnostic(
          .keyNotString, at: location, "a key must be a string, found \(node.kindName)",
          help: node.scalar.map {
            $0.text.isEmpty ? "write a name before the ':'" : "quote it: \"\($0.text.clipped)\""
          }
        ))
      return .refused
    }
    if scalar.text == "<<", scalar.style == .plain {
      diagnostics.append(
        Diagnostic(
          .mergeOfNoMapping, at: location, "merge keys ('<<') are not built yet",
          help: "write the merged keys out; anchors and aliases of whole values work"))
      return .refused
    }
    if let first = seen[scalar.text] {
      diagnostics.append(
        Diagnostic(
          .duplicateKey, at: location, "the key \(scalar.text.quoted) is here a second time",
          help: "remove one of them", notes: [.init("first defined here", at: first)]))
      return .refused
    }
    seen[scalar.text] = location
    return .usable(Located(scalar.text, at: location))
  }

  private func unknownAlias(_ name: String, at location: SourceLocation) -> Diagnostic {
    let open = stack.contains { $0.anchor == name }
    // Each looks at all anchors, and hostile text could have thousands of both.
    let nearest =
      diagnostics.count < 100 ? NearestName.suggestion(for: name, among: anchors.keys.sorted()) : nil
    return Diagnostic(
      .unknownAlias, at: location,
      open
        ? "the alias '*\(name.clipped)' stands inside its own value"
        : "no anchor '&\(name.clipped)' before this alias",
      help: nearest ?? (open ? "write the value out" : "define it first with '&\(name.clipped)'"))
  }
}

// MARK: - Tags

extension YAMLComposer {
  private static let core = "tag:yaml.org,2002:"

  private mutating func forcedType(
    of scalar: YAMLScalar, tag: String?, at location: SourceLocation
  ) -> YAMLScalar.ForcedType? {
    guard let tag else { return nil }
    let found = YAMLScalar.resolve(scalar.text)
    let fits: Bool
    switch tag {
    case "!", Self.core + "str": return .string
    case Self.core + "null": fits = found == .null
    case Self.core + "bool":
      if case .bool = found { fits = true } else { fits = false }
    case Self.core + "int":
      switch found {
      case .integer, .hugeInteger: fits = true
      case .null, .bool, .float, .string: fits = false
      }
    case Self.core + "float":
      switch found {
      case .integer, .hugeInteger, .float: fits = true
      case .null, .bool, .string: fits = false
      }
    default:
      refuse(tag, at: location)
      return nil
    }
    if !fits {
      diagnostics.append(
        Diagnostic(
          .tagMismatch, at: location, "the value is no '!!\(tag.dropFirst(Self.core.count))'",
          help: "remove the tag"))
    }
    return .resolved
  }

  private mutating func check(tag: String?, is expected: String, at location: SourceLocation) {
    guard let tag, tag != "!", tag != Self.core + expected else { return }
    refuse(tag, at: location)
  }

  private mutating func refuse(_ tag: String, at location: SourceLocation) {
    diagnostics.append(
      Diagnostic(
        .unknownTag, at: location, "the tag \(tag.quoted) is not known",
        help: "remove the tag; ferry reads plain YAML"))
  }
}
