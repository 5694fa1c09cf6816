import FerryJournal
import FerryPlan

/// Which upload IDs items have, or were delivered with in this launch: a server may give one ID to several files, for
/// example because it stores equal content once.
struct UploadIDHolders {
  private struct ID: Hashable {
    var node: Int
    /// Of what the server knows the ID by. Where two have the same hash, an ID is not released that could be.
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

  /// The item has no upload ID any more. Returns whether another one has the same, or was delivered with it.
  @discardableResult
  mutating func drop(_ ref: ItemRef) -> Bool {
    guard let id = held.removeValue(forKey: ref) else { return false }
    let others = (counts[id] ?? 1) - 1
    counts[id] = others > 0 ? others : nil
    return others > 0 || delivered.contains(id)
  }

  /// The item was delivered with its upload ID.
  mutating func deliver(_ ref: ItemRef) {
    if let id = held[ref] { delivered.insert(id) }
    drop(ref)
  }
}
