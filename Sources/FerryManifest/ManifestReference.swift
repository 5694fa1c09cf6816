/// The reference page of the manifest, generated from the declarations with which manifests are read.
package enum ManifestReference {
  /// `docs/manifest.md`.
  package static func markdown() -> String {
    var page = introduction
    for object in objects() { page += "\n" + section(object) }
    return page
  }

  /// The mappings of the manifest: the top level, then the others in the order in which they are first
  /// mentioned.
  package static func objects() -> [ObjectForm] {
    var known: [ObjectForm] = [ManifestDocument.shape(file: "").form]
    var titles: Set<String> = ["Manifest"]
    var next = 0
    while next < known.count {
      for object in known[next].keys.flatMap(\.form.objects) where titles.insert(object.title).inserted {
        known.append(object)
      }
      next += 1
    }
    return known
  }

  private static func section(_ object: ObjectForm) -> String {
    var text = "## \(object.title)\n\n\(object.doc)\n\n"
    text += "| key | value | default | meaning |\n|---|---|---|---|\n"
    for key in object.keys {
      let example = key.example.map { " Example: `\($0)`." } ?? ""
      let cells = ["`\(key.name)`", key.form.summary, fallback(key), key.doc + example]
      text += "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n"
    }
    for rule in object.rules { text += "\n\(sentence(rule))\n" }
    return text
  }

  /// The default; if profiles differ, the default of each.
  static func fallback(_ key: KeyForm) -> String {
    guard case .optional(let defaults) = key.presence, let first = defaults.first else { return "required" }
    func text(_ fallback: KeyForm.Default) -> String {
      switch fallback {
      case .value(let value): "`\(value)`"
      case .words(let words): words
      case .itsKeys: "see its keys"
      }
    }
    guard defaults.contains(where: { $0 != first }) else { return text(first) }
    return zip(Profile.allCases, defaults).map { "\($0.rawValue): \(text($1))" }.joined(separator: "; ")
  }

  private static func sentence(_ rule: KeyRule) -> String {
    func list(_ names: [String]) -> String { names.map { "`\($0)`" }.alternatives(quoted: false) }
    return switch rule {
    case .atMostOne(let names): "At most one of \(list(names))."
    case .exactlyOne(let names): "Exactly one of \(list(names))."
    case .requires(let name, let other): "`\(name)` is allowed only with `\(other)`."
    }
  }
}
