import FerryJournal
import FerryPlan

/// The upload IDs that items hold or were delivered with in this launch. A server may give one ID to several files,
/// for example because it stores equal content once.
struct UploadIDHolders {
  private struct ID: Hashable {
    var node: Int
    /// The hash of the values by which the server identifies the ID. If two IDs have the same hash, one that could be
    /// released is not.
    var hash: Int
  }

  private var held: [ItemRef: ID] = [:]
  private var counts: [ID: Int] = [:]
  private var delivered: Set<ID> = []

  mutating func hold(_ identity: [[UInt8]?], _ ref: ItemRef) {
    let id = ID(node: ref.node.index, hash: identity.hashValue)
    drop(ref)
    held[ref] = id
    counts[id, default: 0] += 1
  }

  /// Records that the item no longer has an upload ID.
  ///
  /// - Returns: whether another item has the same ID, or was delivered with it.
  @discardableResult
  mutating func drop(_ ref: ItemRef) -> Bool {
    guard let id = held.removeValue(forKey: ref) else { return false }
    let others = (counts[id] ?? 1) - 1
    counts[id] = others > 0 ? others : nil
    return others > 0 || delivered.contains(id)
  }

  /// Records that the item was delivered with its upload ID.
  mutating func deliver(_ ref: ItemRef) {
    if let id = held[ref] { delivered.insert(id) }
    drop(ref)
  }
}
