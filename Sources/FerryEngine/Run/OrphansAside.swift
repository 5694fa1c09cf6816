import FerryJournal
import FerryPlan

/// Upload IDs in the journals that a launch cannot release because their uploads are not selected, are no
/// longer in the manifest, or have no usable `abandon`. If an item receives one of these IDs, later launches
/// must not release it either.
struct OrphansAside {
  struct Orphan {
    var session: Int
    /// The orphan's number in its journal.
    var row: Int64
  }

  /// The orphans by the hash of one of their values, each with the hashes of the values that an item must have.
  private var orphans: [Int: [(orphan: Orphan, required: Set<Int>)]] = [:]

  /// Adds an upload ID that this launch cannot release.
  ///
  /// - Parameter identity: the values that identify the ID to the server; `nil` if there is no release
  ///   request that determines them. In that case, any of the captured values may be the ID.
  mutating func add(_ row: OrphanRow, session: Int, identity: UploadIDIdentity?) {
    let values = ItemValues(journaled: row.captures, sha256: nil)
    add(values, identity?.values(values) ?? [], at: Orphan(session: session, row: row.id))
  }

  /// Adds an upload ID that this launch cannot release.
  ///
  /// - Parameter known: the values that identify the ID to the server; empty if they are not known. In that case, any of the
  ///   values may be the ID.
  mutating func add(_ values: ItemValues, _ known: [CapturedValue], at orphan: Orphan) {
    if known.isEmpty {
      for value in values.allocate + values.transfer {
        let hash = UploadIDUses.hash(value, nil)
        orphans[hash, default: []].append((orphan, [hash]))
      }
    } else if known.areResources {
      for hash in Set(known.map({ UploadIDUses.hash($0, nil) })) {
        orphans[hash, default: []].append((orphan, [hash]))
      }
    } else {
      let hashes = Set(known.map { UploadIDUses.hash($0, nil) })
      // The orphan is indexed by its rarest value.
      guard let rarest = hashes.min(by: { (orphans[$0]?.count ?? 0) < (orphans[$1]?.count ?? 0) }) else {
        return
      }
      orphans[rarest, default: []].append((orphan, hashes))
    }
  }

  /// Removes and returns the orphans whose ID an item with these values has received.
  mutating func take(_ values: ItemValues) -> [Orphan] {
    guard !orphans.isEmpty else { return [] }
    let hashes = Set((values.allocate + values.transfer).map { UploadIDUses.hash($0, nil) })
    var taken: [Orphan] = []
    for hash in hashes {
      guard let filed = orphans[hash] else { continue }
      taken += filed.filter { hashes.isSuperset(of: $0.required) }.map(\.orphan)
      let rest = filed.filter { !hashes.isSuperset(of: $0.required) }
      orphans[hash] = rest.isEmpty ? nil : rest
    }
    return taken
  }
}
