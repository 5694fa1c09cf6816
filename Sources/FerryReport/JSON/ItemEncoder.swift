import FerryPlan
import Foundation

/// Encodes the items of a report, each as one line of JSON with sorted keys.
struct ItemEncoder {
  private let encoder = ReportJSON.encoder([.sortedKeys, .withoutEscapingSlashes])

  func encode(_ item: RunRecord.ItemRecord) throws -> [UInt8] {
    // Most items of a large report succeeded on the first attempt. Writing them key by key takes a tenth of the
    // encoder's time.
    guard item.attempts.isEmpty, item.reason == nil, item.ambiguity == nil else {
      return PrintableJSON.escaping(try encoder.encode(item))
    }
    var line = JSONLine()
    line.add("attempts", [] as [JSONLine])
    line.add("duration_seconds", item.durationSeconds)
    line.add("ended_at", item.endedAt)
    line.add("manifest", item.manifest)
    line.add("node", item.node)
    line.add("path", item.path)
    line.add("path_base64", item.pathBase64)
    line.add("requests", item.requests.map(Int64.init))
    line.add("sha256", item.sha256)
    line.add("size", item.size)
    line.add("started_at", item.startedAt)
    line.add("state", item.state.rawValue)
    return line.bytes
  }
}
