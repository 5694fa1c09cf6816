/// A JSON schema (draft 07) of the manifest for editors, generated from the declarations with which
/// manifests are read.
///
/// The schema accepts every manifest that the reader accepts. It also accepts some that the reader rejects,
/// because it cannot check names, references and dependencies between keys.
package struct ManifestSchema: Sendable {
  /// If the manifest has one of these keys, mappings may lack required keys, because another mapping may supply them.
  private static let sharing = ["include", "defaults"]
  /// The mapping with default values. The mappings in it need not be complete.
  private static let common = "Defaults"

  /// Whether a mapping must be complete.
  enum Extent: Sendable { case whole, part }

  private let top: ObjectForm

  package init() { top = ManifestDocument.shape(file: "").form }

  /// `docs/manifest.schema.json`.
  package static func json() -> String { ManifestSchema().json.pretty }

  package var json: OrderedJSON {
    .object(
      [
        .init("$schema", .string("http://json-schema.org/draft-07/schema#")),
        .init("title", .string("ferry manifest")),
        .init("description", .string(Self.references)),
        .init("type", .string("object")),
      ] + choice + [.init("definitions", .object(definitions))])
  }

  /// A description of references in words, because JSON Schema cannot describe the parts of a string.
  private static var references: String {
    let families = (["vars", "env", "each"] + Reference.Family.allCases.map(\.rawValue)).map { "${\($0).…}" }
    let filters = ReferenceFilter.allCases.map(\.rawValue)
    return "Texts may contain references (\(families.joined(separator: ", "))) with filters "
      + "(\(filters.joined(separator: ", "))): ${file.path | url}."
  }

  /// The schema of a whole manifest, or of a partial one if the file has `include` or `defaults`.
  ///
  /// The choice is a branch at the top level instead of `anyOf`, so that an editor uses exactly one of the
  /// alternatives for completion and documentation.
  private var choice: [OrderedJSON.Member] {
    let sharing = Self.sharing.filter { name in top.keys.contains { $0.name == name } }
    guard !sharing.isEmpty else {
      return [.init("allOf", .array([.object([reference(to: top, .whole)])]))]
    }
    return [
      .init("if", .object([.init("anyOf", .array(sharing.map { Self.required([$0]) }))])),
      .init("then", .object([reference(to: top, .part)])),
      .init("else", .object([reference(to: top, .whole)])),
    ]
  }

  // MARK: - Definitions

  /// All definitions that the top level uses, in the order in which they are first mentioned.
  private var definitions: [OrderedJSON.Member] {
    var pending = [(top, Extent.whole)]
    if choice.count > 1 { pending.append((top, .part)) }
    var names: Set<String> = []
    var definitions: [OrderedJSON.Member] = []
    var next = 0
    while next < pending.count {
      let (object, extent) = pending[next]
      next += 1
      let name = definitionName(of: object, extent)
      guard names.insert(name).inserted else { continue }
      definitions.append(.init(name, definition(of: object, extent)))
      let inner = extentInside(object, extent)
      pending += object.keys.flatMap(\.form.objects).map { ($0, inner) }
    }
    return definitions
  }

  /// The name of a mapping's definition: its title as one word.
  package static func definitionName(ofTitle title: String) -> String {
    title.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private func definitionName(of object: ObjectForm, _ extent: Extent) -> String {
    let name = Self.definitionName(ofTitle: object.title)
    switch extent {
    case .whole: return name
    case .part: return needsPart(object) ? name + "Part" : name
    }
  }

  func reference(to object: ObjectForm, _ extent: Extent) -> OrderedJSON.Member {
    .init("$ref", .string("#/definitions/\(definitionName(of: object, extent))"))
  }

  private func extentInside(_ object: ObjectForm, _ extent: Extent) -> Extent {
    object.title == Self.common ? .part : extent
  }

  /// Whether a mapping, or one inside it, requires keys.
  private func needsPart(_ object: ObjectForm) -> Bool {
    guard object.title != Self.common else { return false }
    return object.keys.contains(where: \.isRequired) || object.rules.contains(where: \.asksForKeys)
      || object.keys.flatMap(\.form.objects).contains(where: needsPart)
  }

  private func definition(of object: ObjectForm, _ extent: Extent) -> OrderedJSON {
    let inner = extentInside(object, extent)
    var members: [OrderedJSON.Member] = [
      .init("title", .string(object.title)), .init("description", .string(object.doc)),
      .init("type", .string("object")),
      .init(
        "properties", .object(object.keys.map { .init($0.name, .object(property($0, inner))) })),
      .init("additionalProperties", .bool(false)),
    ]
    let required = object.keys.filter(\.isRequired).map(\.name)
    if extent == .whole, !required.isEmpty {
      members.append(.init("required", .array(required.map(OrderedJSON.string))))
    }
    let rules = object.rules.flatMap { constraints($0, extent) }
    if !rules.isEmpty { members.append(.init("allOf", .array(rules))) }
    return .object(members)
  }

  // MARK: - Rules

  private static func required(_ names: [String]) -> OrderedJSON {
    .object([.init("required", .array(names.map(OrderedJSON.string)))])
  }

  private func constraints(_ rule: KeyRule, _ extent: Extent) -> [OrderedJSON] {
    switch (rule, extent) {
    case (.exactlyOne(let names), .whole):
      [.object([.init("oneOf", .array(names.map { Self.required([$0]) }))])]
    case (.atMostOne(let names), _), (.exactlyOne(let names), .part):
      names.indices.flatMap { first in
        names.indices.dropFirst(first + 1).map { second in
          .object([.init("not", Self.required([names[first], names[second]]))])
        }
      }
    case (.requires(let name, let other), .whole):
      [.object([.init("dependencies", .object([.init(name, .array([.string(other)]))]))])]
    case (.requires, .part): []
    }
  }
}

extension KeyRule {
  /// Whether an empty mapping can violate the rule.
  fileprivate var asksForKeys: Bool {
    switch self {
    case .exactlyOne, .requires: true
    case .atMostOne: false
    }
  }
}
