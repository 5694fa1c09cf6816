import FerryPlan

/// The report of a run, from which renderers make documents.
///
/// The items are not all in memory: a report can list millions of them.
package struct ReportSource {
  /// The run, its totals and its nodes. Renderers read the items from `eachItem`.
  package let record: RunRecord
  /// Calls its argument with each item that the report lists. It does not keep the record in memory.
  package let cursor: (_ body: (RunRecord.ItemRecord) throws -> Void) throws -> Void

  /// - Parameter cursor: calls its argument with each item that the report lists. It can be called several times.
  package init(
    _ record: RunRecord,
    items cursor: @escaping (_ body: (RunRecord.ItemRecord) throws -> Void) throws -> Void
  ) {
    self.record = record
    self.cursor = cursor
  }

  /// A report with all of its items in memory.
  package init(_ record: RunRecord) {
    let items = record.items
    self.init(record) { body in for item in items { try body(item) } }
  }

  /// Calls `body` with each item that the report lists, in the same order each time.
  package func eachItem(_ body: (RunRecord.ItemRecord) throws -> Void) throws { try cursor(body) }

  /// Returns a source with the same items and another record.
  package func with(_ record: RunRecord) -> ReportSource { ReportSource(record, items: cursor) }
}

/// Makes a document from a report.
package protocol ReportRenderer {
  func render(_ source: ReportSource, to sink: any ByteSink) throws
}
