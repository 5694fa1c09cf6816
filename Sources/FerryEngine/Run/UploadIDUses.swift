import FerryJournal
import FerryPlan

/// The upload IDs that must never be released: those that items hold, and those with which items were, or may
/// have been, delivered.
struct UploadIDUses {
  /// The other users of an upload ID, apart from the item that lost it.
  enum Sharing {
    case none
    /// An item of the same upload. The ID remains recorded with that item.
    case sameUpload
    /// Another upload. It may use another server, so equal values may be different IDs.
    case otherUpload
  }

  /// Whether an upload releases IDs. If not, nothing is recorded.
  let isNeeded: Bool
  /// The number of items that hold each value, by the value's hash. Hashes take less memory than values; if two values
  /// have the same hash, an ID that could be released might be kept.
  private var held: [Int: Int] = [:]
  /// For each value, the number of items that have or had it and that are no longer open or not part of the launch.
  private var used: [Int: Int] = [:]

  /// The values by which uploads with `abandon` release their IDs, by node.
  private let identities: [Int: UploadIDIdentity]
  /// For each of these uploads, by node: the number of items that have, or had, each value by which the upload releases
  /// its IDs.
  private var released: [Int: [Int: Int]] = [:]

  init(_ plan: Plan) {
    var identities: [Int: UploadIDIdentity] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      identities[index] = work.abandon.map(UploadIDIdentity.init)
    }
    self.identities = identities
    isNeeded = !identities.isEmpty
  }

  /// Records that an item holds an upload ID.
  ///
  /// - Parameter values: the values of an item that holds an upload ID.
  mutating func hold(_ values: inout ItemValues, of node: NodeID) {
    guard isNeeded, !values.allocate.isEmpty || !values.transfer.isEmpty, !values.isHeld else { return }
    values.isHeld = true
    for hash in Self.hashes(values, node) { held[hash, default: 0] += 1 }
    countReleased(values, of: node, 1)
  }

  /// Records that the item no longer holds its upload ID.
  mutating func drop(_ values: inout ItemValues, of node: NodeID) {
    guard values.isHeld else { return }
    values.isHeld = false
    for hash in Self.hashes(values, node) {
      let others = (held[hash] ?? 1) - 1
      held[hash] = others > 0 ? others : nil
    }
    countReleased(values, of: node, -1)
  }

  private mutating func countReleased(_ values: ItemValues, of node: NodeID, _ change: Int) {
    for value in identities[node.index]?.values(values) ?? [] {
      let hash = Self.hash(value, nil)
      let count = (released[node.index]?[hash] ?? 0) + change
      released[node.index, default: [:]][hash] = count > 0 ? count : nil
    }
  }

  /// Records that an item was, or may have been, delivered with the upload ID.
  ///
  /// - Parameter node: `nil` if the item is not part of the launch.
  mutating func use(_ values: ItemValues, of node: NodeID?) {
    guard isNeeded else { return }
    for hash in Self.hashes(values, node) { used[hash, default: 0] += 1 }
    if let node { countReleased(values, of: node, 1) }
  }

  /// Whether an item has, or was delivered with, any of these values.
  func isAnyInUse(_ values: ItemValues) -> Bool {
    (values.allocate + values.transfer).contains { value in
      let hash = Self.hash(value, nil)
      return held[hash] != nil || used[hash] != nil
    }
  }

  /// The other users of the upload ID that these values identify.
  ///
  /// - Parameter servers: the servers that the ID belongs to. The same ID at other servers counts as the ID of
  ///   another upload.
  func sharing(_ identity: [CapturedValue], of node: NodeID, _ servers: BoundServers? = nil) -> Sharing {
    func isInUse(_ node: NodeID?) -> Bool {
      func isInUse(_ value: CapturedValue) -> Bool {
        let hash = Self.hash(value, node, node == nil ? nil : servers)
        return held[hash] != nil || used[hash] != nil
      }
      return identity.areResources ? identity.contains(where: isInUse) : identity.allSatisfy(isInUse)
    }
    guard !identity.isEmpty, isInUse(nil) else { return .none }
    return isInUse(node) ? .sameUpload : .otherUpload
  }

  /// The maximum number of items that may share a value that is not known to be an upload ID. A value with
  /// more users is something else, such as the name of a bucket.
  private static let mostSharers = 8

  /// Whether another item may have, or have had, an upload ID with these values. If the other item belongs to another
  /// upload, it is unknown which of the item's values is the ID.
  ///
  /// - Parameters:
  ///   - values: the values of an item that no longer holds its ID.
  ///   - identity: the values by which the item's upload releases the ID; empty if it does not release IDs.
  func isShared(_ values: ItemValues, identity: [CapturedValue], of node: NodeID) -> Bool {
    guard isNeeded else { return false }
    if sharing(identity, of: node, values.servers) != .none { return true }
    let hashes = Set((values.allocate + values.transfer).map { Self.hash($0, nil) })
    if isReleasedByAnother(hashes, node) { return true }
    return hashes.contains { hash in
      (1...Self.mostSharers).contains((held[hash] ?? 0) + (used[hash] ?? 0))
    }
  }

  /// Whether another upload may have released or may release an ID that these values identify, regardless of
  /// the number of items that have the values.
  private func isReleasedByAnother(_ hashes: Set<Int>, _ node: NodeID) -> Bool {
    released.contains { upload, values in
      guard upload != node.index, let count = identities[upload]?.count, count > 0 else { return false }
      return hashes.count { values[$0] != nil } >= count
    }
  }

  /// The hashes of each value: one for all uploads and, if the node is known, one for its upload.
  private static func hashes(_ values: ItemValues, _ node: NodeID?) -> [Int] {
    let captures = values.allocate + values.transfer
    let shared = captures.map { hash($0, nil) }
    guard let node else { return shared }
    return shared + captures.map { hash($0, node, values.servers) }
  }

  static func hash(_ capture: CapturedValue, _ node: NodeID?, _ servers: BoundServers? = nil) -> Int {
    var hasher = Hasher()
    hasher.combine(node?.index)
    hasher.combine(servers)
    // Bytes are hashed, because values with different bytes may be equal as strings.
    var value = capture.value
    value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
