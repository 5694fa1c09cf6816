import CFiles
import FerryJournal
import FerryTransfer
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

  private struct Key: Hashable {
    var path: [UInt8]
    var followsLinks: Bool
  }

  private let root: Int32
  /// Of the root as it was opened; `nil` where the system does not say.
  let identity: FolderIdentity?
  /// Nothing was in the root when it was opened.
  private let wasEmpty: Bool
  private var folders: [Key: Folder] = [:]
  /// Something of what was closed since the last `sync` did not reach the disk.
  private var hasLost = false

  /// `nil`, with `errno`, where the system allows no more descriptors.
  ///
  /// - Parameter root: the folder that was listed, whatever its path leads to by now.
  init?(root: SourceRoot) {
    let descriptor = root.openFolder()
    guard descriptor >= 0 else { return nil }
    self.root = descriptor
    var status = stat()
    identity =
      fstat(descriptor, &status) == 0
      ? FolderIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) : nil
    wasEmpty = Self.isEmpty(descriptor)
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
  /// - Parameters:
  ///   - creating: makes what is missing.
  ///   - followingLinks: otherwise none may be on the way, nor be the folder.
  /// - Returns: -1, with `errno`, where it cannot be opened; `EXDEV` where a link leads out of the root, `ELOOP`
  ///   where there is one and it is not followed.
  func descriptor(_ path: [UInt8], creating: Bool = false, followingLinks: Bool = true) -> Int32 {
    let key = Key(path: path, followsLinks: followingLinks)
    if let known = folders[key] { return known.descriptor }
    var descriptor = openFolder(key)
    if descriptor < 0, errno == ENOENT, creating { descriptor = create(key) }
    if descriptor >= 0 { folders[key] = Folder(descriptor: descriptor) }
    return descriptor
  }

  /// Another user who owns a folder of this path, in a root that everyone may write to: that user could delete what is
  /// moved there.
  func stranger(on path: [UInt8]) -> uid_t? {
    var rootStatus = stat()
    guard fstat(root, &rootStatus) == 0, rootStatus.st_mode & 0o002 != 0 else { return nil }
    var above: [UInt8] = []
    for name in path.split(separator: 0x2F) {
      above += (above.isEmpty ? [] : [0x2F]) + name
      var status = stat()
      guard fstat(descriptor(above, followingLinks: false), &status) == 0 else { return nil }
      if status.st_uid != geteuid(), status.st_uid != rootStatus.st_uid { return status.st_uid }
    }
    return nil
  }

  /// Names in it were added or removed.
  func change(_ path: [UInt8], followingLinks: Bool = true) {
    folders[Key(path: path, followsLinks: followingLinks)]?.isChanged = true
  }

  /// Whether nothing at all is in the root, nor was when it was opened: what is gone since has shown that its file
  /// system is there.
  var isRootEmpty: Bool { wasEmpty && Self.isEmpty(root) }

  private static func isEmpty(_ folder: Int32) -> Bool {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      return false
    }
    defer { closedir(stream) }
    // Beside itself and the one above it.
    for _ in 0..<3 where readdir(stream) == nil { return true }
    return false
  }

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
  private func create(_ folder: Key) -> Int32 {
    var above: [UInt8] = []
    for name in folder.path.split(separator: 0x2F) {
      let parent = descriptor(above, followingLinks: folder.followsLinks)
      guard parent >= 0 else { return -1 }
      guard mkdirat(parent, FileLister.terminated(Array(name)), 0o777) == 0 || errno == EEXIST else {
        return -1
      }
      change(above, followingLinks: folder.followsLinks)
      above += (above.isEmpty ? [] : [0x2F]) + name
    }
    return openFolder(folder)
  }

  private func openFolder(_ folder: Key) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    let name = FileLister.terminated(folder.path.isEmpty ? [0x2E] : folder.path)
    let descriptor = ferry_open_beneath(root, name, flags, folder.followsLinks ? 1 : 0)
    // A kernel before 5.6, or a container whose filter does not know the call.
    guard descriptor < 0, errno == ENOSYS || errno == EPERM else { return descriptor }
    var current = fcntl(root, F_DUPFD_CLOEXEC, 0)
    for name in folder.path.split(separator: 0x2F) where current >= 0 {
      let below = openat(current, FileLister.terminated(Array(name)), flags | O_NOFOLLOW)
      var code = errno
      // What O_NOFOLLOW says of a link beside O_DIRECTORY.
      if below < 0, code == ENOTDIR, Self.isLink(name, in: current) { code = ELOOP }
      close(current)
      errno = code
      current = below
    }
    return current
  }

  private static func isLink(_ name: ArraySlice<UInt8>, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, FileLister.terminated(Array(name)), &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }
}
