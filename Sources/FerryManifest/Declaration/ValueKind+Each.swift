/// `for_each` as written in the manifest.
struct ForEach: Sendable {
  var instances: [EachInstance]
}

extension ValueKind where Value == ForEach {
  /// A list of names, or a mapping of names to their values.
  static var forEach: Self {
    let name = ValueForm.text(what: "name", references: false)
    let text = ValueForm.text(what: "string", references: false)
    return Self(
      .either([.list(name), .map(key: "name", value: .either([text, .map(key: "name", value: text)]))])
    ) { node, decoder in
      let outer = decoder.owner
      defer { decoder.owner = outer }
      let instances: [(key: Located<String>, EachInstance)]
      switch node.content {
      case .sequence(let elements):
        instances = elements.compactMap { element in
          decoder.constant(element, wanted: "a name").map {
            (
              Located($0, at: element.location),
              EachInstance(key: $0, value: .text($0), isFromOutside: decoder.isFromOutside)
            )
          }
        }
      case .mapping(let members):
        instances = members.compactMap { member in
          decoder.owner = member.key
          return decoder.instance(member).map { (member.key, $0) }
        }
      case .scalar:
        let text = node.isNull ? nil : node.scalar.map { $0.inList }
        decoder.mismatch(node, wanted: "a list of names, or a mapping", help: text.map { "write [\($0)]" })
        return nil
      }
      if node.elements?.isEmpty == true || node.members?.isEmpty == true {
        decoder.report(
          .emptyList, at: node.location, "'for_each' is empty", help: "add an element, or remove the key")
      }
      return ForEach(instances: decoder.sound(instances))
    }
  }
}

extension ManifestDecoder {
  /// Reads the instances of a node with a `for_each`; returns nil if the node has no `for_each`.
  mutating func instances(of node: YAMLNode.Member, in space: DeclaredNames.Space) -> [EachInstance]? {
    let takesForEach = [.uploads, .downloads, .fetches].contains(space)
    let hasForEach = node.value["for_each"] != nil
    hasMisspeltForEach = hasForEach ? !takesForEach : isMisspelt("for_each", in: node.value)
    guard takesForEach,
      let list = node.value.members?.first(where: { $0.key.value == "for_each" })
    else { return nil }
    let outer = owner
    owner = list.key
    defer { owner = outer }
    let instances = ValueKind<ForEach>.forEach.decode(list.value, &self)?.instances ?? []
    declared.add(instances.map { $0.name(node.key.value) }, of: node.key, node.value, to: space)
    return instances
  }

  fileprivate mutating func instance(_ member: YAMLNode.Member) -> EachInstance? {
    let key = member.key.value
    guard let members = member.value.members else {
      return constant(member.value, wanted: "a string, or a mapping of strings").map {
        EachInstance(key: key, value: .text($0), isFromOutside: isFromOutside)
      }
    }
    var fields: [String: String] = [:]
    var instance = EachInstance(key: key, value: .fields([:]))
    for member in members {
      owner = member.key
      if let problem = NameRule.problem(member.key.value, allowsDots: false) {
        report(problem, at: member.key.location)
      }
      if let text = constant(member.value) {
        fields[member.key.value] = text
        instance.isFromOutside = instance.isFromOutside || isFromOutside
      } else {
        instance.broken.insert(member.key.value)
      }
    }
    instance.value = .fields(fields)
    return instance
  }

  /// Returns the instances with valid names, each name once, and reports the others.
  fileprivate mutating func sound(_ instances: [(key: Located<String>, EachInstance)]) -> [EachInstance] {
    var first: [String: SourceLocation] = [:]
    return instances.compactMap { key, instance in
      if let problem = NameRule.problem(key.value, allowsDots: true) {
        report(
          problem.code, at: key.location, problem.message,
          help: problem.help + "; in a mapping, the key can be a different name: { eu: … }")
        return nil
      }
      if let other = first.updateValue(key.location, forKey: key.value) {
        report(
          .duplicateEach, at: key.location, "'for_each' contains \(key.value.quoted) twice",
          help: "remove one of them", notes: [.init("first defined here", at: other)])
        return nil
      }
      return instance
    }
  }

  /// The value of `${each.…}`.
  mutating func eachText(_ field: String, at location: SourceLocation) -> String? {
    guard let each else {
      // In `defaults`, the value is unknown.
      guard !isPartial, !hasMisspeltForEach else { return nil }
      report(
        .eachOutOfPlace, at: location, "\("${each.\(field)}".quoted) has a value only with 'for_each'",
        help: "add 'for_each' to the upload or fetch, or use ${vars.NAME}")
      return nil
    }
    switch (field, each.value) {
    case ("key", _): return each.key
    case ("value", .text(let text)): return text
    case (_, .fields(let fields)) where field.hasPrefix("value."):
      let name = String(field.dropFirst("value.".count))
      if let text = fields[name] { return text }
      guard !each.broken.contains(name), !isReported(.unknownReference, at: location) else { return nil }
      report(
        .unknownReference, at: location, "the value of \(each.key.quoted) has no \(name.quoted)",
        help: suggestion(for: name, among: fields.keys.sorted())
          ?? "use \(fields.keys.sorted().alternatives())")
      return nil
    case ("value", .fields(let fields)):
      guard !isReported(.incompleteReference, at: location) else { return nil }
      report(
        .incompleteReference, at: location, "the value of \(each.key.quoted) is a mapping",
        help: "write ${each.value.\(fields.keys.min() ?? "NAME")}")
      return nil
    case (_, .text), (_, .fields):
      report(
        .unknownReference, at: location, "unknown reference \("${each.\(field)}".quoted)",
        help: "use each.key or each.value")
      return nil
    }
  }
}
