/// The declaration of one mapping of the manifest: its keys, and the rules between them.
struct ObjectSchema<Object: Sendable>: Sendable {
  let title: String
  let doc: String
  let keys: [Key<Object>]
  let rules: [KeyRule]
  /// An object before any key is read: defaults, and placeholders for required values.
  let blank: @Sendable (Located<String>, Profile) -> Object
  /// The place that determines the allowed references, derived from the enclosing place and the name of the
  /// mapping.
  let place: @Sendable (Place, String) -> Place
  /// Called after all keys are read, for defaults and checks that involve several keys.
  let finish: @Sendable (inout Object, YAMLNode, inout ManifestDecoder) -> Void

  init(
    _ title: String, doc: String, keys: [Key<Object>], rules: [KeyRule] = [],
    blank: @escaping @Sendable (Located<String>, Profile) -> Object,
    place: @escaping @Sendable (Place, String) -> Place = { outer, _ in outer },
    finish: @escaping @Sendable (inout Object, YAMLNode, inout ManifestDecoder) -> Void = { _, _, _ in }
  ) {
    self.title = title
    self.doc = doc
    self.keys = keys
    self.rules = rules
    self.blank = blank
    self.place = place
    self.finish = finish
  }

  /// The object in the manifest's notation, with the keys whose values have a text.
  @Sendable func text(_ object: Object) -> String? {
    let members = keys.compactMap { key in key.text(object).map { "\(key.name): \($0)" } }
    return members.isEmpty ? nil : "{ \(members.joined(separator: ", ")) }"
  }

  var form: ObjectForm {
    let name = Located("", at: SourceLocation(file: "", line: 1, column: 1))
    let blanks = Profile.allCases.map { blank(name, $0) }
    return ObjectForm(title: title, doc: doc, keys: keys.map { $0.form(in: blanks) }, rules: rules)
  }

  /// Reads a mapping: the declared keys in the order of their declarations, then unknown or missing keys.
  ///
  /// Nil only if the node is not a mapping. If an object has mistakes, they are reported and the object is
  /// still returned, so that its other values are checked too.
  func decode(_ node: YAMLNode, _ decoder: inout ManifestDecoder) -> Object? {
    guard let members = node.members else {
      let some = keys.prefix(3).map { "'\($0.name)'" }.joined(separator: ", ")
      decoder.mismatch(
        node, wanted: "a mapping with keys such as \(some)", help: help(insteadOf: node, decoder))
      return nil
    }
    let owner = decoder.owner
    let outer = decoder.place
    let name = Located(decoder.instanceName ?? owner.value, at: owner.location)
    decoder.instanceName = nil
    decoder.place = decoder.isPartial ? .defaults : place(outer, name.value)
    defer {
      decoder.owner = owner
      decoder.place = outer
    }

    var object = blank(name, decoder.profile)
    let given = Dictionary(members.map { ($0.key.value, $0) }, uniquingKeysWith: { first, _ in first })
    for key in keys {
      guard let member = given[key.name] else { continue }
      decoder.owner = member.key
      decoder.example = key.example.map { (key.name, $0) }
      key.decode(member.value, &object, &decoder)
    }
    decoder.owner = owner
    // These checks compare names, which is wasted work if no further diagnostic can be reported.
    if decoder.diagnostics.count < Diagnostic.mostReported {
      reportUnknown(members, &decoder)
      for rule in rules { check(rule, given, isIncomplete: node.isIncomplete, &decoder) }
      if !decoder.isPartial, !node.isIncomplete { reportMissing(Set(given.keys), &decoder) }
    }
    guard !decoder.isPartial else { return object }
    finish(&object, node, &decoder)
    return object
  }

  /// A correct notation to suggest instead of a value that is not a mapping.
  private func help(insteadOf node: YAMLNode, _ decoder: ManifestDecoder) -> String {
    let owner = decoder.owner.value.clipped
    guard !owner.isEmpty else { return "begin with 'version: 1' and 'name: …'" }
    let needed = keys.filter(\.isRequired)
    let needsOne = rules.contains { if case .exactlyOne = $0 { true } else { false } }
    if node.isNull, needed.isEmpty, !needsOne { return "write '\(owner): {}' to use the defaults" }
    let shown = needed.isEmpty ? Array(keys.filter { $0.example != nil }.prefix(1)) : needed
    let members = shown.map { "\($0.name): \($0.example ?? $0.form.sample)" }
    return "for example '\(owner): { \(members.joined(separator: ", ")) }'"
  }

  private func reportUnknown(_ members: [YAMLNode.Member], _ decoder: inout ManifestDecoder) {
    let known = keys.map(\.name)
    for member in members where !known.contains(member.key.value) {
      decoder.report(
        .unknownKey, at: member.key.location, "unknown key \(member.key.value.quoted)",
        help: holder(of: member.key.value).map { "move it into '\($0)'" }
          ?? decoder.suggestion(for: member.key.value, among: known)
          ?? "valid keys are \(known.joined(separator: ", "))")
    }
  }

  /// The key of a nested mapping to which a key with this name belongs: for `url`, it is `request`.
  private func holder(of name: String) -> String? {
    keys.first { key in
      if case .object(let object) = key.form { object.keys.contains { $0.name == name } } else { false }
    }?.name
  }

  private func reportMissing(_ given: Set<String>, _ decoder: inout ManifestDecoder) {
    // A misspelled key, or a key that belongs in a missing mapping, is reported as unknown. Reporting the
    // intended key as missing too would report the same mistake twice.
    let misspelt = given.subtracting(keys.map(\.name)).compactMap {
      holder(of: $0) ?? decoder.nearest(to: $0, among: keys.map(\.name))
    }
    guard !(decoder.mayBeIncomplete && decoder.owner.value.isEmpty) else { return }
    for key in keys where key.isRequired && !given.contains(key.name) && !misspelt.contains(key.name) {
      decoder.report(
        .missingKey, at: decoder.owner.location, "\(subject(decoder)) has no '\(key.name)'",
        help: key.remedy(decoder) ?? "add '\(key.name): \(key.example ?? key.form.sample)'")
    }
  }

  private func subject(_ decoder: ManifestDecoder) -> String {
    decoder.owner.value.isEmpty ? "the manifest" : decoder.owner.value.quoted
  }

  private func check(
    _ rule: KeyRule, _ given: [String: YAMLNode.Member], isIncomplete: Bool, _ decoder: inout ManifestDecoder
  ) {
    switch rule {
    case .atMostOne(let names), .exactlyOne(let names):
      let present = names.compactMap { given[$0]?.key }.sorted { $0.location < $1.location }
      if let first = present.first, present.count > 1 {
        for other in present.dropFirst() {
          decoder.report(
            .excludingKeys, at: other.location,
            "'\(other.value)' and '\(first.value)' are mutually exclusive",
            help: "keep one of them", notes: [.init("'\(first.value)' is set here", at: first.location)])
        }
      }
      // An unknown key, which has been reported, may be a misspelling of one of these keys.
      if case .exactlyOne = rule, present.isEmpty, !isIncomplete, !decoder.isPartial, !hasUnknown(given) {
        decoder.report(
          .missingAlternative, at: decoder.owner.location,
          "\(subject(decoder)) requires \(names.alternatives())",
          help: "add exactly one of them" + sample(of: names))
      }
    case .requires(let name, let other):
      guard let key = given[name]?.key, given[other] == nil, !isIncomplete, !decoder.isPartial,
        !hasNear([other], given, decoder)
      else { return }
      decoder.report(
        .keyWithoutOther, at: key.location, "'\(name)' is valid only with '\(other)'",
        help: "add '\(other):', or remove '\(name)'")
    }
  }

  private func hasUnknown(_ given: [String: YAMLNode.Member]) -> Bool {
    given.keys.contains { name in !keys.contains { $0.name == name } }
  }

  private func sample(of names: [String]) -> String {
    let first = keys.first { names.contains($0.name) }
    return first.map { ", for example '\($0.name): \($0.example ?? $0.form.sample)'" } ?? ""
  }

  private func hasNear(
    _ names: [String], _ given: [String: YAMLNode.Member], _ decoder: ManifestDecoder
  ) -> Bool {
    given.keys.contains { decoder.nearest(to: $0, among: names) != nil }
  }
}
