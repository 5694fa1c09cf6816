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
  /// Folders were made since the last `sync`.
  private var hasMadeFolders = false

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

  /// Why a folder is not opened.
  enum Failure: Error {
    /// An error number: `EXDEV` where a link leads out of the root, `ELOOP` where there is one and it is not followed.
    case system(Int32)
    /// Another user has put this folder, or one above it, into a folder that everyone may write to, and could delete
    /// what is moved there.
    case foreign(uid_t)
  }

  /// The descriptor of a folder; the empty path is the root's. Valid until the next `makeRoom` or `sync`.
  func descriptor(_ path: [UInt8]) throws(Failure) -> Int32 {
    try descriptor(Key(path: path, followsLinks: true)) { key throws(Failure) in try openFolder(key.path) }
  }

  /// The descriptor of a folder that files may be moved to: no link is on the way, and nothing of a stranger.
  ///
  /// - Parameter creating: makes what is missing.
  func targetDescriptor(_ path: [UInt8], creating: Bool) throws(Failure) -> Int32 {
    try descriptor(Key(path: path, followsLinks: false)) { key throws(Failure) in
      try walk(key.path, creating: creating)
    }
  }

  private func descriptor(
    _ key: Key, open: (Key) throws(Failure) -> Int32
  ) throws(Failure) -> Int32 {
    if let known = folders[key] { return known.descriptor }
    let descriptor = try open(key)
    folders[key] = Folder(descriptor: descriptor)
    return descriptor
  }

  /// Names in it were added or removed.
  func change(_ path: [UInt8]) { folders[Key(path: path, followsLinks: true)]?.isChanged = true }

  /// Names were added in a folder of `targetDescriptor`.
  func changeTarget(_ path: [UInt8]) { folders[Key(path: path, followsLinks: false)]?.isChanged = true }

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
    if changed.count <= Self.syncedAlone, !hasMadeFolders {
      // A file system that cannot sync a folder (EINVAL) has nothing to wait for.
      for folder in changed where fsync(folder.descriptor) != 0 && errno != EINVAL { hasLost = true }
    } else if ferry_sync_file_system(root) != 0 {
      hasLost = true
    }
    hasMadeFolders = false
    for folder in folders.values { close(folder.descriptor) }
    folders = [:]
  }

  private func openFolder(_ path: [UInt8]) throws(Failure) -> Int32 {
    let name = FileLister.terminated(path.isEmpty ? [0x2E] : path)
    let descriptor = ferry_open_beneath(root, name, Self.flags, 1)
    if descriptor >= 0 { return descriptor }
    // A kernel before 5.6, or a container whose filter does not know the call.
    guard errno == ENOSYS || errno == EPERM else { throw .system(errno) }
    return try walk(path, creating: false, trustingAll: true)
  }

  private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// Opens folder after folder and follows no link: what is judged is what was opened, whatever is exchanged meanwhile.
  private func walk(
    _ path: [UInt8], creating: Bool, trustingAll: Bool = false
  ) throws(Failure) -> Int32 {
    var current = fcntl(root, F_DUPFD_CLOEXEC, 0)
    guard current >= 0 else { throw .system(errno) }
    for name in path.split(separator: 0x2F) {
      let above = current
      defer { close(above) }
      current = try open(name, in: above, creating: creating)
      guard !trustingAll, let owner = Self.stranger(current, in: above) else { continue }
      close(current)
      throw .foreign(owner)
    }
    return current
  }

  private func open(
    _ name: ArraySlice<UInt8>, in folder: Int32, creating: Bool
  ) throws(Failure) -> Int32 {
    let text = FileLister.terminated(Array(name))
    var opened = openat(folder, text, Self.flags | O_NOFOLLOW)
    if opened < 0, errno == ENOENT, creating {
      guard mkdirat(folder, text, 0o777) == 0 || errno == EEXIST else { throw .system(errno) }
      hasMadeFolders = true
      opened = openat(folder, text, Self.flags | O_NOFOLLOW)
    }
    guard opened < 0 else { return opened }
    let code = errno
    // What O_NOFOLLOW says of a link beside O_DIRECTORY.
    throw .system(code == ENOTDIR && Self.isLink(name, in: folder) ? ELOOP : code)
  }

  /// The owner of a folder in one that everyone may write to, if that is neither this user nor the other folder's owner.
  private static func stranger(_ descriptor: Int32, in folder: Int32) -> uid_t? {
    var (own, above) = (stat(), stat())
    // A folder that does not tell whose it is, is nobody's.
    guard fstat(descriptor, &own) == 0, fstat(folder, &above) == 0 else { return uid_t.max }
    return FolderPath.foreignOwner(of: own, in: above)
  }

  private static func isLink(_ name: ArraySlice<UInt8>, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, FileLister.terminated(Array(name)), &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }
}

extension OpenFolders.Failure {
  /// An error number.
  var code: Int32 {
    switch self {
    case .system(let code): code
    case .foreign: EACCES
    }
  }
}
