/// The identity and state of the file at a path. If the file is replaced or changed, its version differs.
package struct FileVersion: Hashable, Sendable {
  /// The identity, derived from device and inode.
  package var identity: UInt64
  /// The size in bytes.
  package var size: Int64
  /// The modification time in nanoseconds since 1970.
  package var modified: Int64

  package init(identity: UInt64, size: Int64, modified: Int64) {
    (self.identity, self.size, self.modified) = (identity, size, modified)
  }
}

extension FileVersion: LosslessStringConvertible {
  /// The three numbers, separated by spaces, as the journal stores them.
  package var description: String { "\(identity) \(size) \(modified)" }

  package init?(_ description: String) {
    let parts = description.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let identity = UInt64(parts[0]), let size = Int64(parts[1]), size >= 0,
      let modified = Int64(parts[2])
    else { return nil }
    self.init(identity: identity, size: size, modified: modified)
  }
}
