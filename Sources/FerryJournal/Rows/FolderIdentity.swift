/// Identifies the folder at the end of a path. While its file system is not mounted, a mount point is a different
/// folder.
package struct FolderIdentity: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}
