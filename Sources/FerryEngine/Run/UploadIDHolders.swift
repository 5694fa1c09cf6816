import FerryJournal
import FerryPlan

/// The upload IDs that items hold or were delivered with in this launch. A server may give one ID to several files,
/// for example because it stores equal content once.
struct UploadIDHolders {
  /// An upload ID, as its release names it to the server.
  struct ID: Hashable {
    /// The origin of the server that issued it; empty if it is known only during the run.
    var origin: String
    var values: [[UInt8]?]
  }

  // Hashes take less memory than IDs. If two IDs have the same hash, one that could be released is not.
  private var held: [ItemRef: Int] = [:]
  private var counts: [Int: Int] = [:]
  private var used: Set<Int> = []

  mutating func hold(_ id: ID, _ ref: ItemRef) {
    drop(ref)
    held[ref] = id.hashValue
    counts[id.hashValue, default: 0] += 1
  }

  /// The item no longer has an upload ID. Returns whether another item has the same one, or used it.
  @discardableResult
  mutating func drop(_ ref: ItemRef) -> Bool {
    guard let id = held.removeValue(forKey: ref) else { return false }
    let others = (counts[id] ?? 1) - 1
    counts[id] = others > 0 ? others : nil
    return others > 0 || used.contains(id)
  }

  /// The item was delivered with its upload ID, or may have been.
  mutating func use(_ ref: ItemRef) {
    if let id = held[ref] { used.insert(id) }
    drop(ref)
  }

  /// An item of an earlier launch may have been delivered with it.
  mutating func use(_ id: ID) { used.insert(id.hashValue) }
}
