import FerryPlan

/// The header lists of the latest requests. The items of a batch have different URLs, but usually the same
/// header fields.
struct HeaderCache {
  /// The maximum number of lists. A batch alternates between its steps (allocate, transfer, commit), and only
  /// a few batches run at a time.
  private static let capacity = 8

  /// The lists, latest first.
  private var lists: [HeaderList] = []

  mutating func list(_ fields: [TransferRequest.HeaderField]) throws(TransportFailure) -> HeaderList {
    for index in lists.indices where lists[index].fields == fields {
      let list = lists[index]
      if index > 0 { lists.swapAt(index, 0) }
      return list
    }
    let list = try HeaderList(fields)
    if lists.count == Self.capacity { lists.removeLast() }
    lists.insert(list, at: 0)
    return list
  }
}
