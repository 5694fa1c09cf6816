import FerryManifest
import FerryPlan

/// The division of a manifest's files into shards, as written by `ferry plan --shards --format json`. The JSON keys are a
/// stable public interface.
package struct ShardPlanDocument: Encodable, Sendable {
  package var version = 1
  package var manifest: String
  package var path: String
  package var count: Int
  /// All files of the manifest's uploads and download batches, delivered or not.
  package var items: Int
  package var bytes: Int64
  package var shards: [Entry]
  package var spread: Spread
  package var budgets: [BudgetShare]
  /// The requests and fetches that run once, before and after the shards.
  package var before: [String]
  package var after: [String]
  /// The number of paths that could not be listed.
  package var unlisted: Int

  package struct Entry: Encodable, Sendable {
    package var number: Int
    package var items = 0
    package var bytes: Int64 = 0
    /// The size of the largest file.
    package var largestBytes: Int64 = 0

    package init(number: Int) { self.number = number }
  }

  package struct Spread: Encodable, Sendable {
    package var items: Range
    package var bytes: Range
  }

  /// The distribution of a value over the shards.
  package struct Range: Encodable, Sendable {
    package var min: Int64
    package var median: Int64
    package var max: Int64
    /// The standard deviation.
    package var deviation: Double

    init(_ values: [Int64]) {
      let sorted = values.sorted()
      min = sorted.first ?? 0
      median = sorted.isEmpty ? 0 : sorted[sorted.count / 2]
      max = sorted.last ?? 0
      let count = Double(Swift.max(values.count, 1))
      let mean = values.reduce(0) { $0 + Double($1) } / count
      let variance = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / count
      deviation = (variance.squareRoot() * 10).rounded() / 10
    }
  }

  /// The shares of a budget.
  package struct BudgetShare: Encodable, Sendable {
    package var network: Budget.Scope
    package var limitBytes: Int64
    /// The share of the first shard. The shares differ by at most one byte.
    package var shardBytes: Int64
    /// The share of the requests and fetches that run once.
    package var onceBytes: Int64
    /// If the budget is not divided, each share is the whole limit.
    package var division: EngineSettings.BudgetDivision

    package init(
      network: Budget.Scope, limitBytes: Int64, shardBytes: Int64, onceBytes: Int64,
      division: EngineSettings.BudgetDivision
    ) {
      self.division = division
      self.network = network
      self.limitBytes = limitBytes
      self.shardBytes = shardBytes
      self.onceBytes = onceBytes
    }
  }

  package init(
    manifest: String, path: String, shards: [Entry], budgets: [BudgetShare], before: [String],
    after: [String],
    unlisted: Int
  ) {
    self.manifest = manifest
    self.path = path
    count = shards.count
    items = shards.reduce(0) { $0 + $1.items }
    bytes = shards.reduce(0) { $0 +| $1.bytes }
    self.shards = shards
    spread = Spread(items: Range(shards.map { Int64($0.items) }), bytes: Range(shards.map(\.bytes)))
    self.budgets = budgets
    self.before = before
    self.after = after
    self.unlisted = unlisted
  }
}
