import CFiles
import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// Deletes or moves the delivered files of one upload, as specified by `after`.
///
/// A file remains in place if it is no longer the file that was sent, or if the target folder already contains a file
/// of the same name.
final class AfterDelivery {
  /// The folder to which files are moved; `nil` if they are deleted.
  private let target: String?
  private let rootPath: [UInt8]
  private let folders: Result<OpenFolders, FolderPath.Failure>

  /// Returns `nil` for `keep`, which requires no action.
  ///
  /// - Parameter lister: the lister of the upload's files, whose opened root is used.
  init?(_ after: Upload.After, of lister: FileLister) {
    switch after {
    case .keep: return nil
    case .delete: target = nil
    case .moveTo(let folder): target = folder
    }
    rootPath = lister.root
    folders = lister.openedRoot.flatMap { root in
      OpenFolders(root: root).map { .success($0) } ?? .failure(.system(errno))
    }
  }

  /// The identity of the current root folder; `nil` if it cannot be opened.
  var root: FolderIdentity? {
    // If the root cannot be opened, each file's result reports the reason.
    try? folders.get().identity
  }

  /// Deletes or moves a file. The change is on disk once `sync` has returned true.
  func carryOut(_ file: DeliveredFile) -> AfterResult {
    let folders: OpenFolders
    switch self.folders {
    case .success(let opened): folders = opened
    case .failure(.system(let code)): return Self.failure(code, FileLister.text(rootPath), "be opened")
    case .failure(let failure): return .left(.afterFolder, failure.reason)
    }
    folders.makeRoom()
    let parent = Self.folder(of: file.path)
    let folder: Int32
    do throws(OpenFolders.Failure) { folder = try folders.descriptor(parent) } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return missing(file, folders) }
      return Self.failure(error.code, Self.shown(parent), "be opened")
    }
    let name = FileLister.terminated(Self.name(of: file.path))
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return missing(file, folders) }
      return Self.failure(errno, Self.shown(file.path), "be examined")
    }
    if let owner = folders.stranger(onPathTo: parent, forFileOf: status.st_uid) {
      return .left(
        .afterFolder,
        "\(Self.shown(file.path)) is reached through a symbolic link of user \(owner), which ferry does not follow; replace the "
          + "link by a folder")
    }
    if let change = Self.change(of: file, status, at: file.path, folders) { return change }
    // Size and time do not identify a file: a copy may preserve them, and a file in another root may have the same
    // values.
    guard file.inode != nil else { return Self.unknown }
    if let target { return move(file, status, in: folder, to: Array(target.utf8), folders) }
    guard unlinkat(folder, name, 0) == 0 else {
      if errno == ENOENT { return missing(file, folders) }
      return Self.failure(errno, Self.shown(file.path), "be deleted")
    }
    folders.change(parent)
    return .deleted
  }

  /// Syncs the changes made since the last call; returns whether all of them are on disk.
  func sync() -> Bool { (try? folders.get().sync()) ?? true }  // A root that is not open has no changes.

  /// The inode is unknown if a run was killed while it sent the file, or if the run's manifest specified `keep`.
  private static let unknown = AfterResult(
    state: .kept,
    problem: RecordedFailure(
      code: .afterUnknown,
      message:
        "ferry cannot determine whether this is the file that was sent, so the file remained in place; move or delete it yourself"
    ))

  /// The result for a file that is no longer the file that was sent; `nil` if it still is.
  ///
  /// - Parameters:
  ///   - own: the status of the name, which may be a link.
  ///   - path: the path of the name, beneath the root.
  private static func change(
    of file: DeliveredFile, _ own: stat, at path: [UInt8], _ folders: OpenFolders
  ) -> AfterResult? {
    let isEntry =
      file.inode.map { $0 == own.entryInode(beneath: folders.identity?.device) } ?? true
      // Inode numbers identify files only within one file system, so the root must still be on the device from which
      // the file was sent.
      && file.root.map { $0.device == folders.identity?.device } ?? true
    guard isEntry else { return changed }
    var status: stat? = own
    // The link itself is deleted or moved, so its inode is compared. Its target was sent, so the target is compared too.
    // Another user's link must not be followed, because its target may be on a file system that does not respond.
    if own.st_mode & S_IFMT == S_IFLNK {
      guard file.inode != nil else { return unknown }
      status = folders.target(ofLink: own, at: path)
    }
    guard let status else { return targetIsGone }
    let isSame =
      status.isRegular && Int64(status.st_size) == file.size && status.modifiedNanoseconds == file.modified
    return isSame ? nil : changed
  }

  private static let changed = AfterResult(
    state: .changed,
    problem: RecordedFailure(
      code: .afterChanged,
      message:
        "the file changed after it was sent and therefore remained in place; with `deliver: when_changed`, it "
        + "is sent again if its size or modification time is different"
    ))

  private static let targetIsGone = AfterResult(
    state: .changed,
    problem: RecordedFailure(
      code: .afterChanged,
      message:
        "the target of this link was deleted or moved after it was sent, and the link remained in place"
    ))

  /// The result for a file that does not exist. A killed run may have deleted or moved it without recording
  /// the change.
  private func missing(_ file: DeliveredFile, _ folders: OpenFolders) -> AfterResult {
    guard !folders.isRootEmpty || isKnownToBeGone(file, folders) else {
      let root = FileLister.text(rootPath)
      return .left(
        .afterMissing,
        "the root \(root) is empty, as if its file system were not mounted; mount the file system, or "
          + (target.map { "create the folder \($0)" } ?? "create any file")
          + " in the root to discard this action")
    }
    guard let target else { return AfterResult(state: .gone) }
    let path = FileLister.plain(Array(target.utf8) + [0x2F] + file.path)
    var status = stat()
    // If the target folder cannot be opened, the file is treated as not moved.
    let name = FileLister.terminated(Self.name(of: path))
    let code = try? folders.withTarget(Self.folder(of: path)) {
      fstatat($0, name, &status, AT_SYMLINK_NOFOLLOW)
    }
    if code == 0 {
      // The target of a relative link is missing after the link was moved.
      let isMovedLink =
        status.st_mode & S_IFMT == S_IFLNK
        && file.inode == status.entryInode(beneath: folders.identity?.device)
      if isMovedLink || Self.change(of: file, status, at: path, folders) == nil { return .moved }
    }
    return AfterResult(
      state: .gone,
      problem: RecordedFailure(
        code: .afterMissing, message: "the file disappeared before it could be moved to \(target)"))
  }

  /// Whether the empty root is the folder from which the file was sent, rather than a mount point without its
  /// file system. Also true if the file's inode is unknown: without an inode, a file is never deleted or
  /// moved.
  private func isKnownToBeGone(_ file: DeliveredFile, _ folders: OpenFolders) -> Bool {
    file.inode == nil || file.root.map { $0 == folders.identity } ?? false
  }

  /// - Parameter here: the open folder of the file.
  private func move(
    _ file: DeliveredFile, _ status: stat, in here: Int32, to target: [UInt8], _ folders: OpenFolders
  ) -> AfterResult {
    let path = FileLister.plain(target + [0x2F] + file.path)
    let (old, new) = (Self.folder(of: file.path), Self.folder(of: path))
    let there: Int32
    do throws(OpenFolders.Failure) {
      // Do not follow links: a file that was moved through a link could be listed, sent and moved again.
      there = try folders.targetDescriptor(new, from: folders.source(old, here))
    } catch {
      return Self.failure(error, target: Self.shown(new))
    }
    let name = FileLister.terminated(Self.name(of: file.path))
    let code = Self.rename(name, from: here, to: there, status)
    switch code {
    case 0:
      folders.change(old)
      folders.changeTarget(new)
      return .moved
    case ENOENT: return missing(file, folders)
    case EEXIST:
      return .left(
        .afterExists,
        "\(Self.shown(path)) already exists and is not overwritten; move it away, and the next run will move this file"
      )
    case EXDEV:
      return .left(
        .afterFileSystem,
        "\(Self.shown(new)) is on a different file system, and ferry does not copy files: "
          + "choose a folder on the same file system for `move_to`")
    default: return Self.failure(code, Self.shown(file.path), "be moved to \(Self.shown(new))")
    }
  }

  /// Renames a file without replacing another; returns 0 or the error number.
  private static func rename(_ name: [CChar], from: Int32, to: Int32, _ status: stat) -> Int32 {
    if ferry_rename_new(from, name, to, name) == 0 { return 0 }
    var code = errno
    // If the file system or the kernel cannot rename without replacing, the file temporarily has two names.
    if code == EINVAL || code == ENOSYS || code == EPERM {
      if linkat(from, name, to, name, 0) == 0 {
        guard unlinkat(from, name, 0) != 0, errno != ENOENT else { return 0 }
        code = errno
        // The old name cannot be removed, for example from another user's sticky folder.
        unlinkat(to, name, 0)
        return code
      }
      code = errno
    }
    guard code == EEXIST else { return code }
    // If ferry was killed between linkat and unlinkat, both names belong to the same file.
    var other = stat()
    guard fstatat(to, name, &other, AT_SYMLINK_NOFOLLOW) == 0, other.st_dev == status.st_dev,
      other.st_ino == status.st_ino, status.st_nlink > 1, !isSameFolder(from, to)
    else { return EEXIST }
    return unlinkat(from, name, 0) == 0 ? 0 : errno
  }

  /// Also true if a link leads from one path to the folder at the other one.
  private static func isSameFolder(_ one: Int32, _ other: Int32) -> Bool {
    var status = stat()
    return fstat(one, &status) != 0 || FolderIdentity(status).isOpen(as: other)
  }

  /// The result if a file cannot be moved to a folder.
  private static func failure(_ error: OpenFolders.Failure, target: String) -> AfterResult {
    switch error {
    case .foreign(let owner):
      .left(
        .afterFolder,
        "\(target), or a folder above it, belongs to user \(owner), who may have created it, because its parent folder is "
          + "writable by a group or by all users; create the `move_to` folder yourself")
    case .exposed:
      .left(
        .afterFolder,
        "\(target), or a folder above it, gives other users access that the folder of this file does not give, has "
          + "another owner or ACL, or the folders above this file cannot be opened; correct the owner and the permissions, and "
          + "the next run will move this file"
      )
    case .system(ENOTDIR), .system(EEXIST):
      .left(
        .afterFolder, "\(target) is not a folder; remove it, and the next run will move this file")
    case .system(EXDEV), .system(ELOOP):
      .left(
        .afterFolder,
        "\(target) is a symbolic link, or is reached through one; choose a path without links for `move_to`")
    case .system(let code): failure(code, target, "be created or opened")
    }
  }

  private static func failure(_ code: Int32, _ path: String, _ what: String) -> AfterResult {
    let reason = FileLister.reason(code)
    switch code {
    case EACCES, EPERM, EROFS:
      return .left(
        .afterPermission,
        "\(path) cannot \(what): \(reason); correct the permissions, and the next run retries")
    case EXDEV, ELOOP:
      return .left(
        .afterFolder,
        "\(path) is reached through links that lead out of the root or through too many folders; such links are not followed"
      )
    default: return .left(.afterFailed, "\(path) cannot \(what): \(reason); the next run retries")
    }
  }

  private static func folder(of path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: 0x2F).map { Array(path[..<$0]) } ?? []
  }

  private static func name(of path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: 0x2F).map { Array(path[($0 + 1)...]) } ?? path
  }

  private static func shown(_ path: [UInt8]) -> String { path.isEmpty ? "the root" : FileLister.text(path) }
}
