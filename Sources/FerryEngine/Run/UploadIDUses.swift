import FerryJournal
import FerryPlan

/// The upload IDs that items hold, were delivered with, or may have been delivered with. None of them is released.
///
/// A server may give one ID to several files, for example because it stores equal content once. An ID is recognized by
/// its captured values, whichever upload captured them and under whatever names.
struct UploadIDUses {
  /// Who uses an upload ID, apart from the item that lost it.
  enum Sharing {
    case none
    /// An item of the same upload. It accounts for the ID.
    case sameUpload
    /// Another upload. Its server may be another one, so its ID may be another one.
    case otherUpload
  }

  /// Whether an upload releases IDs. If none does, nothing is recorded.
  let isNeeded: Bool
  // Hashes take less memory than values. If two values have the same hash, an ID that could be released is not.
  /// How many items hold each value.
  private var held: [Int: Int] = [:]
  /// How many items that are no longer open, or not part of the launch, have or had each value.
  private var used: [Int: Int] = [:]

  /// By what the uploads with `abandon` release their IDs, by node.
  private let identities: [Int: UploadIDIdentity]
  /// How many items of each of these uploads have, or had, each value by which the upload releases its IDs.
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

  /// - Parameter values: those of an item that holds an upload ID.
  mutating func hold(_ values: inout ItemValues, of node: NodeID) {
    guard isNeeded, !values.allocate.isEmpty || !values.transfer.isEmpty, !values.isHeld else { return }
    values.isHeld = true
    for hash in Self.hashes(values, node) { held[hash, default: 0] += 1 }
    countReleased(values, of: node, 1)
  }

  /// The item no longer holds its upload ID.
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

  /// An item was delivered with the upload ID, or may have been.
  ///
  /// - Parameter node: `nil` if it is not part of the launch.
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

  /// Who uses an upload ID that is known by these values.
  ///
  /// - Parameter servers: those that the ID belongs to. The same ID at other servers counts as one of another upload.
  func sharing(_ identity: [CapturedValue], of node: NodeID, _ servers: BoundServers? = nil) -> Sharing {
    func isInUse(_ node: NodeID?) -> Bool {
      identity.allSatisfy { value in
        let hash = Self.hash(value, node, node == nil ? nil : servers)
        return held[hash] != nil || used[hash] != nil
      }
    }
    guard !identity.isEmpty, isInUse(nil) else { return .none }
    return isInUse(node) ? .sameUpload : .otherUpload
  }

  /// If more items than this have a value that is not known to be an upload ID, it is something else, such as the name
  /// of a bucket.
  private static let mostSharers = 8

  /// Whether another item may have, or have had, an upload ID of these values. Which of another upload's values is the
  /// ID is not known.
  ///
  /// - Parameters:
  ///   - values: those of an item that no longer holds its ID.
  ///   - identity: those by which its own upload releases the ID; empty if it does not.
  func isShared(_ values: ItemValues, identity: [CapturedValue], of node: NodeID) -> Bool {
    if sharing(identity, of: node, values.servers) != .none { return true }
    let hashes = Set((values.allocate + values.transfer).map { Self.hash($0, nil) })
    if isReleasedByAnother(hashes, node) { return true }
    return hashes.contains { hash in
      (1...Self.mostSharers).contains((held[hash] ?? 0) + (used[hash] ?? 0))
    }
  }

  /// Whether another upload releases an ID by values that are all among these, however many items have them.
  private func isReleasedByAnother(_ hashes: Set<Int>, _ node: NodeID) -> Bool {
    released.contains { upload, values in
      guard upload != node.index, let count = identities[upload]?.count, count > 0 else { return false }
      return hashes.count { values[$0] != nil } >= count
    }
  }

  /// Each value once for its upload and once for all uploads.
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
    // Bytes, because values with different bytes may be equal as strings.
    var value = capture.value
    value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
