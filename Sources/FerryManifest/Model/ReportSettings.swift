/// The settings of the report of a run.
package struct ReportSettings: Hashable, Codable, Sendable {
  /// The items that a report lists one by one.
  package enum Items: String, Codable, Sendable, CaseIterable {
    /// Items that were started but did not succeed on the first attempt.
    case notable
    /// All items of the run.
    case all
  }

  /// Default notable.
  package var items: Items

  package init(items: Items = .notable) { self.items = items }
}
