/// Builds the tree from libyaml's events, in bounded time and memory.
struct YAMLComposer {
  /// The maximum nesting of lists and mappings, including the values of aliases. libyaml itself has no limit.
  static let deepest = 100
  /// The maximum number of values. The values of aliases count each time, which stops alias bombs.
  static let mostNodes = 250_000
  /// The maximum number of bytes of text in the values of aliases. Many aliases of a long text expand to a
  /// huge document that has few values.
  static let mostAliasedText = 1 << 20

  private(set) var root: YAMLNode?
  var diagnostics: [Diagnostic] = []
  /// Whether reading stopped before the end of the document.
  private(set) var isBroken = false

  let source: SourceText
  private var stack: [Frame] = []
  private var anchors: [String: Anchor] = [:]
  private var openedCount = 0
  private var nodeCount = 0
  /// The bytes of all scalars; the scalars of aliases count each time.
  private var textCount = 0
  private var aliasedText = 0
  private var hasDocument = false

  init(_ source: SourceText) { self.source = source }

  /// The meaning of an anchor name at a position in the text: the latest anchor with this name before that
  /// position.
  private enum Anchor {
    case whole(Value)
    /// A list or mapping that is still open; `number` distinguishes it from others with the same anchor
    /// name.
    case open(number: Int, SourceLocation)
  }

  /// A finished value and its size.
  private struct Value {
    var node: YAMLNode
    /// The number of values in the value, including itself.
    var weight = 1
    /// The number of levels of lists and mappings in the value, including itself.
    var height = 0
    /// The number of bytes of text in the value.
    var text = 0
  }

  /// A list or mapping that is still open.
  private struct Frame {
    enum Content {
      case sequence([YAMLNode])
      case mapping([YAMLNode.Member], pending: PendingKey?)
    }
    var content: Content
    var location: SourceLocation
    var anchor: String?
    /// The sequence number among all lists and mappings that have been opened.
    var number: Int
    /// `nodeCount` and `textCount` before the list or mapping was opened.
    var countBefore: Int
    var textBefore: Int
    /// The maximum height of a value in the list or mapping.
    var heightInside = 0
    /// The location of each key of a mapping.
    var seen: [String: SourceLocation] = [:]
    var merge: Merge?
    /// Whether an unknown value is merged into the mapping.
    var isIncomplete = false
  }

  private enum PendingKey {
    case usable(Located<String>)
    case merge
    /// A key that has already been reported; its value is read and dropped.
    case refused
  }

  /// Handles one event. Returns false to stop reading.
  mutating func handle(_ event: YAMLEvent) -> Bool {
    let location = SourceLocation(file: source.file, line: event.line + 1, column: event.column + 1)
    switch event.kind {
    case .other:
      return true
    case .documentStart:
      guard !hasDocument else {
        return stop(
          Diagnostic(
            .secondDocument, at: location, "a second document begins here",
            help: "a manifest is a single document; move the other one to a separate file"))
      }
      hasDocument = true
      return true
    case .alias(let name):
      guard case .whole(var value)? = anchors[name] else {
        diagnostics.append(unknownAlias(name, at: location))
        let nothing = Value(node: YAMLNode(location: location, content: .sequence([])))
        return add(nothing, counting: 1, isKnown: false, at: location)
      }
      textCount += value.text
      aliasedText += value.text
      guard aliasedText <= Self.mostAliasedText else {
        return stop(
          Diagnostic(
            .tooManyValues, at: location,
            "aliases expand to more than \(Self.mostAliasedText >> 20) MiB of text",
            help: "each use of an alias counts; use fewer aliases, or move the text to 'vars'"))
      }
      value.node.use = location
      return add(value, counting: value.weight, at: location)
    case .scalar(var scalar, let properties):
      let misread = misreadAnchor(of: scalar, properties, at: location)
      if let misread { diagnostics.append(misread) }
      scalar.forcedType = forcedType(of: scalar, tag: properties.tag, at: location)
      var node = YAMLNode(location: location, content: .scalar(scalar))
      node.isIncomplete = misread != nil
      let value = Value(node: node, text: scalar.text.utf8.count)
      textCount += value.text
      if let anchor = properties.anchor { anchors[anchor] = .whole(value) }
      return add(value, counting: 1, at: location)
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
    guard stack.count < Self.deepest else { return stop(nestedTooDeep(at: location)) }
    openedCount += 1
    if let anchor = properties.anchor { anchors[anchor] = .open(number: openedCount, location) }
    stack.append(
      Frame(
        content: content, location: location, anchor: properties.anchor, number: openedCount,
        countBefore: nodeCount, textBefore: textCount))
    return true
  }

  private mutating func close() -> Bool {
    guard let frame = stack.popLast() else { return true }
    var node: YAMLNode
    switch frame.content {
    case .sequence(let elements):
      node = YAMLNode(location: frame.location, content: .sequence(elements))
    case .mapping(let members, pending: _):
      let merged = frame.merge.map { $0.members(into: members, explicit: frame.seen) }
      node = YAMLNode(location: frame.location, content: .mapping(merged ?? members))
      node.isIncomplete = frame.isIncomplete
    }
    let value = Value(
      node: node, weight: nodeCount - frame.countBefore + 1, height: frame.heightInside + 1,
      text: textCount - frame.textBefore)
    // A value inside may have used the same name. In that case, the name refers to that value.
    if let anchor = frame.anchor, case .open(frame.number, _)? = anchors[anchor] {
      anchors[anchor] = .whole(value)
    }
    return add(value, counting: 1, at: frame.location)
  }

  /// Adds a finished value to the open list or mapping.
  ///
  /// - Parameters:
  ///   - count: the number of its values that are not counted yet.
  ///   - location: the location of the value in the text; for an alias, the location of the alias, not of its
  ///     value.
  private mutating func add(
    _ value: Value, counting count: Int, isKnown: Bool = true, at location: SourceLocation
  ) -> Bool {
    let node = value.node
    nodeCount += count
    guard nodeCount <= Self.mostNodes else {
      return stop(
        Diagnostic(
          .tooManyValues, at: location,
          "the manifest has more than \(Self.mostNodes) values, counting the values of aliases",
          help: "each use of an alias counts; use fewer aliases, or list files in a `list:` file"))
    }
    guard stack.count + value.height <= Self.deepest else { return stop(nestedTooDeep(at: location)) }
    guard var frame = stack.popLast() else {
      if isKnown { root = node }
      return true
    }
    frame.heightInside = max(frame.heightInside, value.height)
    switch frame.content {
    case .sequence(var elements):
      // The frame releases its array, so that appending does not copy it.
      frame.content = .sequence([])
      if isKnown { elements.append(node) }
      frame.content = .sequence(elements)
    case .mapping(let members, pending: nil):
      frame.content = .mapping([], pending: nil)
      let key = isKnown ? key(node, in: &frame, before: members.count, at: location) : .refused
      frame.content = .mapping(members, pending: key)
    case .mapping(var members, pending: .some(let pending)):
      frame.content = .mapping([], pending: nil)
      switch pending {
      case .usable(let key):
        var node = node
        if !isKnown { node.isIncomplete = true }
        members.append(.init(key: key, value: node))
      case .merge:
        let refused = isKnown ? frame.merge?.add(node) ?? [] : []
        diagnostics += refused
        if !isKnown || !refused.isEmpty { frame.isIncomplete = true }
      case .refused: break
      }
      frame.content = .mapping(members, pending: nil)
    }
    stack.append(frame)
    return true
  }

  /// Classifies a node in the position of a key.
  ///
  /// - Parameter count: the number of members in the mapping so far.
  private mutating func key(
    _ node: YAMLNode, in frame: inout Frame, before count: Int, at location: SourceLocation
  ) -> PendingKey {
    if let misread = misreadKey(node, at: location) {
      diagnostics.append(misread)
      frame.isIncomplete = true
      return .refused
    }
    // The manifest language has a key `null`, so a plain `null` in the position of a key is read as a string.
    guard let scalar = node.scalar, scalar.value == .string || scalar.text == "null" else {
      diagnostics.append(
        Diagnostic(
          .keyNotString, at: location, "a key must be a string, found \(node.kindName)",
          help: node.scalar.flatMap { $0.text.isEmpty ? nil : "quote it: \"\($0.text.clipped)\"" }
            ?? "write a name before the ':'",
          notes: node.definitionNote))
      return .refused
    }
    if scalar.text == "<<", scalar.style == .plain, scalar.forcedType == nil {
      if let first = frame.merge {
        diagnostics.append(
          duplicate(
            "<<", at: location, first: first.location, help: "write one '<<' with a list: <<: [*a, *b]"))
        return .refused
      }
      frame.merge = Merge(location: location, index: count)
      return .merge
    }
    if let first = frame.seen[scalar.text] {
      diagnostics.append(duplicate(scalar.text, at: location, first: first, help: "remove one of them"))
      return .refused
    }
    frame.seen[scalar.text] = location
    return .usable(Located(scalar.text, at: location))
  }

  private func duplicate(
    _ key: String, at location: SourceLocation, first: SourceLocation, help: String
  ) -> Diagnostic {
    Diagnostic(
      .duplicateKey, at: location, "duplicate key \(key.quoted)", help: help,
      notes: [.init("first defined here", at: first)])
  }

  private func nestedTooDeep(at location: SourceLocation) -> Diagnostic {
    Diagnostic(
      .nestedTooDeep, at: location, "lists and mappings are nested deeper than \(Self.deepest) levels",
      help: "a manifest needs far fewer levels; look for unclosed brackets")
  }

  private func unknownAlias(_ name: String, at location: SourceLocation) -> Diagnostic {
    if case .open(_, let start)? = anchors[name] {
      return Diagnostic(
        .unknownAlias, at: location, "the alias '*\(name.clipped)' is inside its own value",
        help: "write the value out", notes: [.init("the value begins here", at: start)])
    }
    // Each suggestion compares all anchors, and hostile text could have thousands of aliases and anchors.
    let nearest =
      diagnostics.count < 100 ? NearestName.suggestion(for: name, among: anchors.keys.sorted()) : nil
    return Diagnostic(
      .unknownAlias, at: location, "there is no anchor '&\(name.clipped)' before this alias",
      help: nearest ?? "define it first with '&\(name.clipped)'")
  }
}
