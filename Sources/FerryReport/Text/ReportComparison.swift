import FerryManifest
import FerryPlan

/// The differences between the reports of two runs. The JSON keys are a stable public interface.
package struct ReportComparison: Encodable, Sendable {
  /// The version of this format.
  package var version = 1
  package var before: Side
  package var after: Side
  /// Items and nodes that failed or became ambiguous only in the second run, at most `limit`.
  package var newFailures: [Failure] = []
  package var newFailuresCount = 0
  /// Items and nodes that failed or became ambiguous only in the first run, at most `limit`.
  package var fixed: [Failure] = []
  package var fixedCount = 0
  /// The number of items and nodes that failed or became ambiguous in both runs.
  package var stillFailingCount = 0
  /// The growth of the time for each request and for each byte, in percent; absent if there is nothing to compare.
  package var secondsPerRequestPercent: Double?
  package var secondsPerBytePercent: Double?
  package var budgets: [BudgetGrowth]
  /// The conditions of `--fail-on` that are met.
  package var failures: [String] = []

  /// The largest number of failures that are listed.
  package static let limit = 1000

  /// One of the runs.
  package struct Side: Encodable, Sendable {
    package var run: String
    package var manifests: String
    package var startedAt: String
    package var seconds: Double
    package var exitCode: Int32
    package var itemsDone: Int
    package var requests: Int
    /// The bytes of all requests.
    package var bytes: Int64

    init(_ record: RunRecord) {
      run = record.run.id
      manifests = record.names
      startedAt = record.run.startedAt
      seconds = (record.seconds * 1000).rounded() / 1000
      exitCode = record.run.exitCode
      itemsDone = record.totals.itemsDoneInRun
      requests = record.totals.requests
      bytes = record.totals.bytes.useful +| record.totals.bytes.resent +| record.totals.bytes.overhead
    }
  }

  /// The bytes that were charged to a budget, or the bytes of all requests (`requests`) if the runs have no budget in
  /// common.
  package struct BudgetGrowth: Encodable, Sendable {
    package var network: String
    package var bytesBefore: Int64
    package var bytesAfter: Int64
    /// Absent if the first run had no bytes.
    package var percent: Double?

    init(network: String, before: Int64, after: Int64) {
      self.network = network
      bytesBefore = before
      bytesAfter = after
      percent = before > 0 ? ReportComparison.growth(Double(before), Double(after)) : nil
    }
  }

  package struct Failure: Hashable, Encodable, Sendable {
    /// Present if the run has several manifests.
    package var manifest: String?
    package var node: String
    /// Absent for the failure of a node as a whole.
    package var path: String?
    package var pathBase64: String?
    package var message: String?

    /// Two failures of the same item or node are equal, regardless of their reasons.
    package static func == (a: Self, b: Self) -> Bool {
      (a.manifest, a.node, a.path, a.pathBase64) == (b.manifest, b.node, b.path, b.pathBase64)
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(manifest)
      hasher.combine(node)
      hasher.combine(path)
      hasher.combine(pathBase64)
    }
  }

  package init(_ a: ReportSource, _ b: ReportSource, failingOn conditions: [FailCondition] = []) throws {
    before = Side(a.record)
    after = Side(b.record)
    budgets = Self.budgets(a.record, b.record)
    var earlier: Set<Failure> = []
    try Self.eachFailure(a) { earlier.insert($0) }
    try Self.eachFailure(b) { failure in
      if earlier.remove(failure) != nil {
        stillFailingCount += 1
      } else {
        newFailuresCount += 1
        if newFailures.count < Self.limit { newFailures.append(failure) }
      }
    }
    fixedCount = earlier.count
    fixed = Array(earlier.sorted { ($0.node, $0.path ?? "") < ($1.node, $1.path ?? "") }.prefix(Self.limit))
    if before.requests > 0, after.requests > 0 {
      secondsPerRequestPercent = Self.growth(
        before.seconds / Double(before.requests), after.seconds / Double(after.requests))
    }
    if before.bytes > 0, after.bytes > 0 {
      secondsPerBytePercent = Self.growth(
        before.seconds / Double(before.bytes), after.seconds / Double(after.bytes))
    }
    failures = conditions.compactMap { $0.isMet(by: self) ? $0.description : nil }
  }

  /// Calls `body` once with each item and node that failed or became ambiguous.
  private static func eachFailure(_ source: ReportSource, _ body: (Failure) -> Void) throws {
    try source.eachItem { item in
      guard item.state == .failed || item.state == .ambiguous else { return }
      body(
        Failure(
          manifest: item.manifest, node: item.node, path: item.path, pathBase64: item.pathBase64,
          message: item.reason.map { ReasonText.text($0) }))
    }
    for node in source.record.nodes {
      for problem in node.problems ?? [] {
        body(
          Failure(
            manifest: node.manifest, node: node.name, path: problem.path, pathBase64: problem.pathBase64,
            message: problem.message))
      }
      guard node.hasOwnFailure, !node.isExcusedFailure else { continue }
      body(
        Failure(
          manifest: node.manifest, node: node.name, message: node.reason.map { ReasonText.text($0) }))
    }
  }

  private static func budgets(_ a: RunRecord, _ b: RunRecord) -> [BudgetGrowth] {
    // A run that continues beyond the end of a window has a record for each window.
    func charged(_ record: RunRecord, _ scope: Budget.Scope) -> Int64? {
      let records = (record.run.budgets ?? []).filter { $0.network == scope }
      return records.isEmpty ? nil : records.reduce(0) { $0 +| $1.charged }
    }
    let common = Budget.Scope.allCases.compactMap { scope -> BudgetGrowth? in
      guard let before = charged(a, scope), let after = charged(b, scope) else { return nil }
      return BudgetGrowth(network: scope.rawValue, before: before, after: after)
    }
    guard common.isEmpty else { return common }
    return [BudgetGrowth(network: "requests", before: Side(a).bytes, after: Side(b).bytes)]
  }

  /// The growth in percent, with one digit after the decimal point.
  fileprivate static func growth(_ before: Double, _ after: Double) -> Double? {
    guard before > 0, after.isFinite else { return nil }
    return ((after / before - 1) * 1000).rounded() / 10
  }
}

extension RunRecord.BudgetRecord {
  /// The bytes that were added to the budget's usage during the run.
  fileprivate var charged: Int64 { max(0, usedBytesAfter -| usedBytesBefore) }
}
