import FerryDigest
import FerryPlan

/// The SHA-256 digests of a run's files, in one column for each node. A column takes no memory until the first digest.
struct ItemDigests: Sendable {
  private var columns: [NodeID: [UInt8]] = [:]

  private static let absent = [UInt8](repeating: 0, count: SHA256.size)

  subscript(ref: ItemRef) -> [UInt8]? {
    get {
      guard let item = ref.item, let column = columns[ref.node], (item + 1) * SHA256.size <= column.count
      else {
        return nil
      }
      let digest = Array(column[(item * SHA256.size)..<((item + 1) * SHA256.size)])
      return digest == Self.absent ? nil : digest
    }
    set {
      guard let item = ref.item else { return }
      let digest = newValue ?? Self.absent
      precondition(digest.count == SHA256.size, "a digest has 32 bytes")
      var column = columns.removeValue(forKey: ref.node) ?? []
      let (start, end) = (item * SHA256.size, (item + 1) * SHA256.size)
      if column.count < end { column.append(contentsOf: repeatElement(0, count: end - column.count)) }
      column.replaceSubrange(start..<end, with: digest)
      columns[ref.node] = column
    }
  }
}
