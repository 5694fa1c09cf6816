/// Which file a name led to, and as of when: a file that was replaced or changed has another one.
package struct FileVersion: Hashable, Sendable {
  /// Device and inode.
  package var identity: UInt64
  /// In bytes.
  package var size: Int64
  /// In nanoseconds since 1970.
  package var modified: Int64

  package init(identity: UInt64, size: Int64, modified: Int64) {
    (self.identity, self.size, self.modified) = (identity, size, modified)
  }
}

extension FileVersion: LosslessStringConvertible {
  /// The three numbers, with a blank between them: what the journal keeps.
  package var description: String { "\(identity) \(size) \(modified)" }

  package init?(_ description: String) {
    let parts = description.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let identity = UInt64(parts[0]), let size = Int64(parts[1]), size >= 0,
      let modified = Int64(parts[2])
    else { return nil }
    self.init(identity: identity, size: size, modified: modified)
  }
}
