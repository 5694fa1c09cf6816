import FerryManifest
import FerryPlan

/// Formats the division of a manifest into shards as text.
package enum ShardPlanText {
  /// The maximum number of shards that are listed. The shards with the most bytes are listed first.
  private static let listed = 20

  package static func text(_ document: ShardPlanDocument) -> String {
    var lines = [
      "\(DisplayPath.line(document.manifest)): \(NumberText.text(document.items)) \(document.items == 1 ? "file" : "files"), "
        + "\(ByteText.text(document.bytes)), in \(Count.text(document.count, "shard"))"
    ]
    let (items, bytes) = (document.spread.items, document.spread.bytes)
    lines.append(
      "  files per shard: \(NumberText.text(Int(items.min))) to \(NumberText.text(Int(items.max))), median "
        + "\(NumberText.text(Int(items.median))), standard deviation \(items.deviation)")
    lines.append(
      "  bytes per shard: \(ByteText.text(bytes.min)) to \(ByteText.text(bytes.max)), median \(ByteText.text(bytes.median))"
    )
    for budget in document.budgets {
      let limit = "  budget of \(budget.network.rawValue): \(ByteText.text(budget.limitBytes)), "
      switch budget.division {
      case .shared: lines.append(limit + "which all shards share")
      case .split:
        lines.append(
          limit
            + "of which each shard may use \(ByteText.text(budget.shardBytes)), and the work that runs once "
            + ByteText.text(budget.onceBytes))
      }
    }
    if document.unlisted > 0 {
      lines.append("  \(Count.text(document.unlisted, "path")) could not be listed")
    }
    lines.append("  before the shards: \(names(document.before))")
    lines.append("  after the shards: \(names(document.after))")
    let largest = document.shards.sorted { ($1.bytes, $0.number) < ($0.bytes, $1.number) }.prefix(listed)
    let numbers = largest.map { "\($0.number)/\(document.count)" }
    let width = numbers.map(\.utf8.count).max() ?? 0
    for (shard, number) in zip(largest, numbers) {
      lines.append(
        "  \(String(repeating: " ", count: width - number.utf8.count))\(number)  \(Count.text(shard.items, "file")), "
          + "\(ByteText.text(shard.bytes)), largest \(ByteText.text(shard.largestBytes))")
    }
    if document.shards.count > largest.count {
      lines.append("  … and \(document.shards.count - largest.count) more; --format json lists all of them")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func names(_ names: [String]) -> String {
    names.isEmpty ? "nothing" : names.map { DisplayPath.line($0) }.joined(separator: ", ")
  }
}
