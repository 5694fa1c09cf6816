import FerryPlan

/// The header lists of the latest requests. The items of a batch differ in their URL, but seldom in their
/// headers.
struct HeaderCache {
  /// A batch alternates between its steps (allocate, transfer, commit), a few batches at a time.
  private static let capacity = 8

  /// The latest first.
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
