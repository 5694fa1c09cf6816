extension YAMLComposer {
  /// The contents of a mapping's merge key (https://yaml.org/type/merge.html).
  struct Merge {
    /// The location of the `<<`.
    let location: SourceLocation
    /// The number of members before the `<<` in the mapping.
    let index: Int
    private var sources: [YAMLNode] = []

    init(location: SourceLocation, index: Int) {
      self.location = location
      self.index = index
    }

    /// Adds the value of the `<<`, a mapping or a list of mappings. Returns the mistakes in the value.
    mutating func add(_ value: YAMLNode) -> [Diagnostic] {
      switch value.content {
      case .mapping:
        sources = [value]
        return []
      case .sequence(let elements):
        // If an alias inserted the list, its members are used at the location of that alias.
        let found = elements.map {
          YAMLNode(location: $0.location, use: value.use ?? $0.use, content: $0.content)
        }
        sources = found.filter { $0.members != nil }
        return found.filter { $0.members == nil }.map {
          Self.noMapping($0, "this list contains \($0.kindName)")
        }
      case .scalar:
        return [Self.noMapping(value, "found \(value.kindName)")]
      }
    }

    private static func noMapping(_ node: YAMLNode, _ found: String) -> Diagnostic {
      Diagnostic(
        .mergeOfNoMapping, at: node.use ?? node.location,
        "'<<' requires a mapping or a list of mappings, \(found)",
        help: "write '<<: *name' or '<<: [*first, *second]'; to use << as a key, quote it: \"<<\"",
        notes: node.definitionNote)
    }

    /// The members of a mapping, with the merged members in the place of the `<<`.
    ///
    /// - Parameter explicit: the mapping's own keys. They take precedence, regardless of their position. If
    ///   merged mappings have the same key, the first takes precedence.
    func members(
      into own: [YAMLNode.Member], explicit: [String: SourceLocation]
    ) -> [YAMLNode.Member] {
      var known = Set(explicit.keys)
      var merged: [YAMLNode.Member] = []
      for source in sources {
        for var member in source.members ?? [] where known.insert(member.key.value).inserted {
          if let use = source.use { member.value.use = use }
          merged.append(member)
        }
      }
      return own[..<index] + merged + own[index...]
    }
  }
}

extension YAMLNode {
  /// The location of the definition, for a value that an alias inserted.
  var definitionNote: [Diagnostic.Note] {
    use == nil ? [] : [.init("the value is defined here", at: location)]
  }
}
