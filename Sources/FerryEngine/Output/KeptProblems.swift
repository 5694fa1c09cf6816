import FerryPlan
import FerryReport

/// The paths that could not be listed, in the reports that are being merged. Each report can list thousands, and their
/// merged report lists only the first ones, so the others are dropped as soon as a report has been read.
struct KeptProblems {
  /// The number of kept problems of each node.
  private var counts: [String: Int] = [:]

  mutating func limited(_ source: ReportSource) -> ReportSource {
    Self.limited(source) { node in
      let kept = counts[node.name] ?? 0
      node.limitProblems(to: max(0, RunRecord.NodeRecord.mostProblems - kept))
      counts[node.name] = kept + (node.problems?.count ?? 0)
    }
  }

  static func none(of source: ReportSource) -> ReportSource {
    limited(source) { $0.limitProblems(to: 0) }
  }

  private static func limited(
    _ source: ReportSource, _ limit: (inout RunRecord.NodeRecord) -> Void
  ) -> ReportSource {
    guard source.record.nodes.contains(where: { $0.problems != nil }) else { return source }
    var record = source.record
    for index in record.nodes.indices { limit(&record.nodes[index]) }
    return source.with(record)
  }
}
