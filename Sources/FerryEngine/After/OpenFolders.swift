import CFiles
import Foundation

/// Folders beneath a root, opened by their paths and kept open for the files that follow.
///
/// No link leads out of the root. A class, for its descriptors: they close with it.
final class OpenFolders {
  /// So many are open at a time.
  private static let limit = 64
  /// More than so many are not synced one by one.
  private static let syncedAlone = 16

  private struct Folder {
    var descriptor: Int32
    var isChanged = false
  }

  private let root: Int32
  private var folders: [[UInt8]: Folder] = [:]
  /// Something of what was closed since the last `sync` did not reach the disk.
  private var hasLost = false

  /// `nil`, with `errno`, where the root cannot be opened.
  init?(root: [UInt8]) {
    let descriptor = open(FileLister.terminated(root), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.root = descriptor
  }

  deinit {
    for folder in folders.values { close(folder.descriptor) }
    close(root)
  }

  /// Closes what is open where that is much.
  func makeRoom() {
    if folders.count >= Self.limit { closeAll() }
  }

  /// The descriptor of a folder; the empty path is the root's. Valid until the next `makeRoom` or `sync`.
  ///
  /// - Parameter creating: makes what is missing.
  /// - Returns: -1, with `errno`, where it cannot be opened; `EXDEV` where a link leads out of the root.
  func descriptor(_ path: [UInt8], creating: Bool = false) -> Int32 {
    if let known = folders[path] { return known.descriptor }
    var descriptor = Self.openFolder(path, beneath: root)
    if descriptor < 0, errno == ENOENT, creating { descriptor = create(path) }
    if descriptor >= 0 { folders[path] = Folder(descriptor: descriptor) }
    return descriptor
  }

  /// Names in it were added or removed.
  func change(_ path: [UInt8]) { folders[path]?.isChanged = true }

  /// Brings the changes to the disk and closes the folders; returns whether all of them are there.
  ///
  /// One sync a folder, or one for all of them where they are many; never one a file.
  func sync() -> Bool {
    closeAll()
    defer { hasLost = false }
    return !hasLost
  }

  private func closeAll() {
    let changed = folders.values.filter(\.isChanged)
    if changed.count <= Self.syncedAlone {
      // A file system that cannot sync a folder (EINVAL) has nothing to wait for.
      for folder in changed where fsync(folder.descriptor) != 0 && errno != EINVAL { hasLost = true }
    } else if ferry_sync_file_system(root) != 0 {
      hasLost = true
    }
    for folder in folders.values { close(folder.descriptor) }
    folders = [:]
  }

  /// Makes the folders of a path that are missing, each in the one above it.
  private func create(_ path: [UInt8]) -> Int32 {
    var above: [UInt8] = []
    for name in path.split(separator: 0x2F) {
      let parent = descriptor(above)
      guard parent >= 0 else { return -1 }
      guard mkdirat(parent, FileLister.terminated(Array(name)), 0o777) == 0 || errno == EEXIST else {
        return -1
      }
      change(above)
      above += (above.isEmpty ? [] : [0x2F]) + name
    }
    return Self.openFolder(path, beneath: root)
  }

  private static func openFolder(_ path: [UInt8], beneath root: Int32) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let name = FileLister.terminated(path.isEmpty ? [0x2E] : path)
    let descriptor = ferry_open_beneath(root, name, flags)
    // A kernel before 5.6, or a container whose filter does not know the call.
    guard descriptor < 0, errno == ENOSYS || errno == EPERM else { return descriptor }
    var current = fcntl(root, F_DUPFD_CLOEXEC, 0)
    for name in path.split(separator: 0x2F) where current >= 0 {
      let below = openat(current, FileLister.terminated(Array(name)), flags | O_NOFOLLOW)
      let code = errno
      close(current)
      errno = code
      current = below
    }
    return current
  }
}
