import FerryPlan

/// A report's items that did not end as done, grouped by cause, from one pass over all items of the report.
struct UnfinishedItems {
  /// The first ambiguous items that need a decision, at most `limit`.
  private(set) var ambiguous: [RunRecord.ItemRecord] = []
  /// The number of all ambiguous items that need a decision, by the title of their node.
  private(set) var ambiguousCounts: [String: Int] = [:]
  /// The other items. Items that were not started are only counted, by `ItemCounts`.
  private(set) var groups = FailureGroups()

  static let limit = 100

  init(_ source: ReportSource) throws {
    try source.eachItem { item in
      if item.ambiguity != nil {
        ambiguousCounts[item.title, default: 0] += 1
        if ambiguous.count < Self.limit { ambiguous.append(item) }
      } else if item.state != .done, item.reason != nil {
        groups.add(item)
      }
    }
  }
}

extension RunRecord {
  /// The name of a node; `MANIFEST/NODE` if there are several manifests.
  static func title(_ node: String, _ manifest: String?) -> String {
    manifest.map { "\($0)/\(node)" } ?? node
  }
}

extension RunRecord.ItemRecord {
  /// The name of the item's node; `MANIFEST/NODE` if there are several manifests.
  var title: String { RunRecord.title(node, manifest) }

  /// The name of the file as it is shown.
  var shownPath: String { DisplayPath.shown(path, base64: pathBase64) }
}

extension RunRecord.NodeRecord {
  /// The node's name; `MANIFEST/NODE` if there are several manifests.
  var title: String { RunRecord.title(name, manifest) }
}
