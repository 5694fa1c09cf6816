extension ManifestDecoder {
  /// Reads the filters of a reference. If one of them does not exist, reports it and returns nil.
  mutating func filters(
    of expression: FilteredExpression, at location: SourceLocation
  ) -> [ReferenceFilter]? {
    var filters: [ReferenceFilter] = []
    let known = ReferenceFilter.allCases.map(\.rawValue)
    for name in expression.filters {
      guard let filter = ReferenceFilter(rawValue: name) else {
        report(
          .invalidFilter, at: location,
          name.isEmpty
            ? "a filter is missing after '|' in '${…}'" : "there is no filter \(name.quoted)",
          help: (suggestion(for: name, among: known) ?? "the filters are \(known.alternatives(quoted: false))")
            + (expression.reference.contains(":-") ? "; a default ends at '|'" : ""))
        return nil
      }
      filters.append(filter)
    }
    guard filters.count <= ReferenceFilter.most else {
      report(
        .invalidFilter, at: location,
        "a reference has at most \(ReferenceFilter.most) filters, found \(filters.count)",
        help: "remove some of them")
      return nil
    }
    return filters
  }

  /// Applies filters to a value that is known before a run. If the result is too large, reports this and
  /// returns nil.
  mutating func filtered(
    _ text: String, _ filters: [ReferenceFilter], at location: SourceLocation
  ) -> String? {
    var text = text
    for filter in filters {
      // A string is UTF-8, and the result of every filter is UTF-8 too.
      guard let value = try? filter.apply(to: Array(text.utf8)),
        let spent = spend(String(decoding: value, as: UTF8.self), at: location)
      else { return nil }
      text = spent
    }
    return text
  }
}
