import CFiles
import FerryJournal
import FerryTransfer
import Foundation

/// Folders beneath a root, opened by their paths and kept open for further files.
///
/// Links that lead out of the root are not followed. This is a class because it owns descriptors, which it
/// closes in `deinit`.
final class OpenFolders {
  /// The maximum number of folders open at a time.
  private static let limit = 64
  /// If more folders than this have changed, the whole file system is synced instead of each folder.
  private static let syncedAlone = 16

  /// The maximum number of attempts to open a folder.
  private static let tries = 16

  private struct Folder {
    var descriptor: Int32
    /// The owners of the links in the path.
    var linkOwners: [uid_t] = []
    var isChanged = false
  }

  private struct Key: Hashable {
    var path: [UInt8]
    var followsLinks: Bool
  }

  private let source: SourceRoot
  private let root: Int32
  /// The identity of the root when it was opened; `nil` if the system does not provide it.
  let identity: FolderIdentity?
  /// Whether the root was empty when it was opened.
  private let wasEmpty: Bool
  private var folders: [Key: Folder] = [:]
  /// The folders that could not be opened since the last `sync`. Each attempt may have to follow many links.
  private var failures: [[UInt8]: Failure] = [:]
  /// The budget for the targets of links since the last `sync`.
  private var lookups = LookupBudget()
  /// Whether a sync has failed since the last call of `sync`, so that it is unknown whether all changes are on disk.
  private var hasLost = false
  /// Whether folders have been created since the last `sync`.
  private var hasMadeFolders = false

  /// Returns `nil`, with `errno` set, if the system allows no more descriptors.
  ///
  /// - Parameter root: the folder that was listed, even if its path now leads elsewhere.
  init?(root: SourceRoot) {
    let descriptor = root.openFolder()
    guard descriptor >= 0 else { return nil }
    source = root
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

  /// Closes all folders if the maximum number is open.
  func makeRoom() {
    if folders.count >= Self.limit { closeAll() }
  }

  /// The reason why a folder cannot be opened.
  enum Failure: Error {
    /// An error number: `EXDEV` if a link leads out of the root, `ELOOP` if the path contains a link and
    /// links are not followed.
    case system(Int32)
    /// The folder, or a folder above it, belongs to another user, who may have created it. That user could read and delete
    /// the files moved there.
    case foreign(uid_t)
    /// The folder gives more users access than the folder from which the file is moved, and another user may have caused
    /// this.
    case exposed
  }

  /// The descriptor of a folder, valid until the next `makeRoom` or `sync`. The empty path means the root.
  func descriptor(_ path: [UInt8]) throws(Failure) -> Int32 {
    if let failure = failures[path] { throw failure }
    do throws(Failure) {
      return try descriptor(Key(path: path, followsLinks: true)) { key throws(Failure) in
        try openFolder(key.path)
      }
    } catch {
      failures[path] = error
      throw error
    }
  }

  /// The owner of a link on the path of a file, if that user could otherwise have a file in any folder of the root deleted;
  /// `nil` if the links may be followed, by the same rule as for listing.
  ///
  /// - Parameters:
  ///   - folder: the folder of the file, which `descriptor` has opened.
  ///   - owner: the owner of the file.
  func stranger(onPathTo folder: [UInt8], forFileOf owner: uid_t) -> uid_t? {
    let owners = folders[Key(path: folder, followsLinks: true)]?.linkOwners ?? []
    return LinkOwner.stranger(among: owners, of: owner)
  }

  /// A folder from which a file is moved.
  struct Source {
    /// The open folder.
    var descriptor: Int32
    /// The components of its path.
    var names: [ArraySlice<UInt8>]
    /// Whether the path passes a link.
    var passesLink = false

    /// The number of components of its path.
    var depth: Int { names.count }
  }

  /// The folder of a file, which `descriptor` has opened.
  func source(_ path: [UInt8], _ descriptor: Int32) -> Source {
    let links = folders[Key(path: path, followsLinks: true)]?.linkOwners ?? []
    return Source(
      descriptor: descriptor, names: path.split(separator: 0x2F), passesLink: !links.isEmpty)
  }

  /// The descriptor of a folder to which files may be moved. The path must not contain links, or folders that another user
  /// may have created.
  ///
  /// - Parameter source: the folder that the file is moved from. `path` ends with the same components; those that are created
  ///   get at most the permissions of their counterparts.
  func targetDescriptor(_ path: [UInt8], from source: Source) throws(Failure) -> Int32 {
    try descriptor(Key(path: path, followsLinks: false)) { key throws(Failure) in
      Folder(descriptor: try walk(key.path, from: source))
    }
  }

  /// Calls `body` with the descriptor of a folder to which files may have been moved. Missing folders are not created. The
  /// permissions are not compared, so no files may be moved there.
  func withTarget<Result>(_ path: [UInt8], _ body: (Int32) -> Result) throws(Failure) -> Result {
    let descriptor = try walk(path)
    defer { close(descriptor) }
    return body(descriptor)
  }

  /// The status of the target of a link at a path; `nil` if the link does not lead to a file in the root, or if the path does
  /// not lead to this link.
  ///
  /// - Parameter link: the status of the link itself.
  func target(ofLink link: stat, at path: [UInt8]) -> stat? {
    guard let target = try? source.target(of: path, within: &lookups), let entry = target.entry,
      entry.st_dev == link.st_dev, entry.st_ino == link.st_ino
    else { return nil }
    return target.status
  }

  private func descriptor(
    _ key: Key, open: (Key) throws(Failure) -> Folder
  ) throws(Failure) -> Int32 {
    if let known = folders[key] { return known.descriptor }
    let folder = try open(key)
    folders[key] = folder
    return folder.descriptor
  }

  /// Records that names in the folder were added or removed.
  func change(_ path: [UInt8]) { folders[Key(path: path, followsLinks: true)]?.isChanged = true }

  /// Records that names were added in a folder that `targetDescriptor` opened.
  func changeTarget(_ path: [UInt8]) { folders[Key(path: path, followsLinks: false)]?.isChanged = true }

  /// Whether the root is empty now and was empty when it was opened. If it was not empty when it was opened, its file
  /// system is mounted.
  var isRootEmpty: Bool { wasEmpty && Self.isEmpty(root) }

  private static func isEmpty(_ folder: Int32) -> Bool {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      return false
    }
    defer { closedir(stream) }
    // Every folder has the entries `.` and `..`, so only a third entry means that it is not empty.
    for _ in 0..<3 where readdir(stream) == nil { return true }
    return false
  }

  /// Syncs the changes and closes the folders; returns whether all changes are on disk.
  ///
  /// Performs one sync per folder, or one sync for the whole file system if many folders changed, but never
  /// one per file.
  func sync() -> Bool {
    closeAll()
    failures = [:]
    lookups = LookupBudget()
    defer { hasLost = false }
    return !hasLost
  }

  private func closeAll() {
    let changed = folders.values.filter(\.isChanged)
    if changed.count <= Self.syncedAlone, !hasMadeFolders {
      // A file system that does not support syncing a folder (EINVAL) does not need the sync.
      for folder in changed where fsync(folder.descriptor) != 0 && errno != EINVAL { hasLost = true }
    } else if ferry_sync_file_system(root) != 0 {
      hasLost = true
    }
    hasMadeFolders = false
    for folder in folders.values { close(folder.descriptor) }
    folders = [:]
  }

  private func openFolder(_ path: [UInt8]) throws(Failure) -> Folder {
    let name = FileLister.terminated(path.isEmpty ? [0x2E] : path)
    // openat2(2) reports EAGAIN while the path is being renamed or mounted over.
    for _ in 0..<Self.tries {
      let descriptor = ferry_open_beneath(root, name, Self.flags, 0)
      if descriptor >= 0 { return Folder(descriptor: descriptor) }
      guard errno == EAGAIN else { break }
    }
    if errno == ELOOP { return try openThroughLinks(path) }
    // The kernel is older than 5.6, or a container's seccomp filter blocks the call.
    guard errno == ENOSYS || errno == EPERM else { throw .system(errno) }
    return Folder(descriptor: try walk(path, trustingAll: true))
  }

  /// Opens a folder whose path contains links that lead to a folder in the root.
  private func openThroughLinks(_ path: [UInt8]) throws(Failure) -> Folder {
    do throws(SourceRoot.OpenFailure) {
      let (descriptor, linkOwners) = try source.openFolder(path)
      return Folder(descriptor: descriptor, linkOwners: linkOwners)
    } catch {
      switch error {
      case .system(let code): throw .system(code)
      case .leavesRoot: throw .system(EXDEV)
      case .tooManySteps: throw .system(ELOOP)
      }
    }
  }

  private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// Opens each folder of the path in turn without following links. The checks apply to the opened folders,
  /// even if their paths are replaced in the meantime.
  private func walk(
    _ path: [UInt8], from source: Source? = nil, trustingAll: Bool = false
  ) throws(Failure) -> Int32 {
    var current = fcntl(root, F_DUPFD_CLOEXEC, 0)
    guard current >= 0 else { throw .system(errno) }
    let names = path.split(separator: 0x2F)
    let permissions = source.map { FolderPermissions(of: $0, below: root) }
    for (index, name) in names.enumerated() {
      let above = current
      defer { close(above) }
      let depth = index + 1 - (names.count - (source?.depth ?? 0))
      current = try open(name, in: above) { permissions?.rights(atDepth: depth, in: above) }
      let failure: Failure? =
        if !trustingAll, let owner = Self.stranger(current, in: above) {
          .foreign(owner)
        } else {
          permissions?.areExceeded(by: current, atDepth: depth) ?? false ? .exposed : nil
        }
      guard let failure else { continue }
      close(current)
      throw failure
    }
    return current
  }

  /// - Parameter newRights: the rights with which the folder is created if it is missing; `nil` if it is not created.
  private func open(
    _ name: ArraySlice<UInt8>, in folder: Int32, newRights: () -> FolderRights?
  ) throws(Failure) -> Int32 {
    let text = FileLister.terminated(Array(name))
    var opened = openat(folder, text, Self.flags | O_NOFOLLOW)
    if opened < 0, errno == ENOENT, let rights = newRights() {
      let creation = FolderRights.Creation(of: rights, in: folder)
      let isCreated = mkdirat(folder, text, creation.mode) == 0
      guard isCreated || errno == EEXIST else { throw .system(errno) }
      hasMadeFolders = true
      opened = openat(folder, text, Self.flags | O_NOFOLLOW)
      if isCreated, opened >= 0, Self.isEmpty(opened) { creation.complete(opened) }
    }
    guard opened < 0 else { return opened }
    let code = errno
    // openat(2) with O_NOFOLLOW and O_DIRECTORY reports a link as ENOTDIR.
    throw .system(code == ENOTDIR && Self.isLink(name, in: folder) ? ELOOP : code)
  }

  /// The owner of a folder inside a folder to which a group or all users can write, if the owner is neither this user, nor
  /// root, nor the owner of the outer folder.
  private static func stranger(_ descriptor: Int32, in folder: Int32) -> uid_t? {
    var (own, above) = (stat(), stat())
    // If the owner cannot be determined, treat the folder as another user's.
    guard fstat(descriptor, &own) == 0, fstat(folder, &above) == 0 else { return uid_t.max }
    let isTrusted = [geteuid(), 0, above.st_uid].contains(own.st_uid)
    return above.st_mode & 0o022 == 0 || isTrusted ? nil : own.st_uid
  }

  private static func isLink(_ name: ArraySlice<UInt8>, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, FileLister.terminated(Array(name)), &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.st_mode & S_IFMT == S_IFLNK
  }
}

extension OpenFolders.Failure {
  /// The corresponding error number.
  var code: Int32 {
    switch self {
    case .system(let code): code
    case .foreign, .exposed: EACCES
    }
  }
}
