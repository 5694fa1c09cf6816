/// Identifies the folder that a path leads to. A mount point is a different folder while its file system is
/// not mounted.
package struct FolderIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}
