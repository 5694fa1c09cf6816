import Foundation

/// ferry's state folder. Its files are never listed: they contain secret captures, and moving them would
/// destroy journals that are in use.
struct StateFolder: Sendable {
  /// The real path, without a trailing slash.
  private let real: [UInt8]
  private let device: UInt64
  private let inode: UInt64

  /// `nil` if there is no folder at this path.
  init?(path: String) {
    var status = stat()
    let bytes = Array(path.utf8)
    guard let real = FileLister.real(bytes), stat(FileLister.terminated(real), &status) == 0 else {
      return nil
    }
    self.real = real
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }

  /// Whether an open folder is the state folder, whatever its name is now.
  func isOpen(as descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && UInt64(status.st_dev) == device
      && UInt64(status.st_ino) == inode
  }

  /// `isOpen(as:)` as a value.
  var test: (Int32) -> Bool { { isOpen(as: $0) } }

  /// Whether a real path is the state folder or in it.
  func contains(real path: [UInt8]) -> Bool { FileLister.isInside(path, real) }

  /// Its path relative to a root, which is given by its real path; `nil` if it is not below the root.
  func path(below root: [UInt8]) -> [UInt8]? {
    guard FileLister.isInside(real, root), real != root else { return nil }
    return Array(real.dropFirst(root == [0x2F] ? 1 : root.count + 1))
  }
}
