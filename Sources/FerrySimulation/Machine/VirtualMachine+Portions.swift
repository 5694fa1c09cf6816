import FerryManifest
import FerryPlan

/// Listings that arrive in portions, as those of many files do in a run.
extension VirtualMachine {
  /// The start of an upload with its first files only, if the others arrive in portions. As in a run, these are only
  /// files of an upload that the journal does not know, and a launch with a limit lists all files first.
  mutating func firstPortion(of start: NodeStart, _ index: Int) -> NodeStart {
    guard options.limit == nil, let portion, case .upload(let items, let settled) = start,
      items.count > portion,
      journal.items[index].count == 0, plan.listsInPortions(NodeID(index))
    else { return start }
    let node = NodeID(index)
    unlisted[node] = items.part(portion..<items.count)
    let first = items.part(0..<portion)
    tables[index] = first
    return .upload(first, settled)
  }

  /// The number of an upload's files that this launch has not listed yet.
  package func unlistedCount(of node: NodeID) -> Int { unlisted[node]?.count ?? 0 }

  /// Lists the next portion.
  mutating func listFurther(_ node: NodeID) {
    guard let portion, let rest = unlisted[node] else { return }
    let isLast = rest.count <= portion
    let items = rest.part(0..<min(portion, rest.count))
    unlisted[node] = isLast ? nil : rest.part(portion..<rest.count)
    tables[node.index]?.append(contentsOf: items)
    handle(.listed(node, isLast ? .items(items, settled: .init()) : .portion(items)))
  }
}

extension ItemTable {
  /// A range of new items as a table.
  fileprivate func part(_ range: Range<Int>) -> ItemTable {
    var part = ItemTable()
    for item in range {
      part.append(
        path: files.path(item), size: files.sizes[item], modified: files.modified[item],
        identity: files.identities[item], row: rows[item], entry: entries[item])
    }
    return part
  }
}
