extension ManifestDecoder {
  /// Checks a reference to a field of an item, if the form of the list determines the fields.
  mutating func checkItemField(_ field: String, _ use: ReferenceUse) {
    guard case .download(let name, _) = use.place,
      let items = declared.declaration(name, in: .downloads)?.node["items"],
      let known = Self.fields(of: items),
      !known.contains(field)
    else { return }
    report(
      .unknownReference, at: use.reference.location, "an item of this list has no field \(field.quoted)",
      help: suggestion(for: field, among: known)
        ?? "use \(known.map { "item.\($0)" }.alternatives(quoted: false)), or read the list as JSON with 'json'"
    )
  }

  /// The fields of each element of a list, as written; `nil` if only the list itself determines them.
  private static func fields(of items: YAMLNode) -> [String]? {
    if items.elements != nil { return DownloadItems.Field.allCases.map(\.rawValue) }
    guard items.members != nil, !items.isIncomplete, items["json"] == nil else { return nil }
    return DownloadItems.Field.ofURL.map(\.rawValue)
  }
}
