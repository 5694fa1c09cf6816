import FerryJournal
import FerryPlan

/// What the journal rows of the nodes state about earlier launches.
extension LaunchState {
  /// The validators of fetches, from the journals, by node.
  var fetches: [Int: FetchRecord] {
    var fetches: [Int: FetchRecord] = [:]
    for (index, row) in rows.enumerated() { fetches[index] = row?.fetch }
    return fetches
  }

  /// The intervals of fetches, from the journals, by node.
  var intervals: [NodeID: Duration] {
    var intervals: [NodeID: Duration] = [:]
    for (index, row) in rows.enumerated() { intervals[NodeID(index)] = row?.fetch?.interval }
    return intervals
  }

  /// The nodes whose items may have had upload IDs in an earlier launch.
  var allocatedBefore: Set<Int> { Set(rows.indices.filter { rows[$0]?.countingPoint != nil }) }
}
