import CFiles
import FerryJournal
import Foundation

/// The permissions of the folders that contain a file, from which those of new folders are derived when the file is moved.
///
/// The folders are found through `..` from the folder of the file, which is open. A path could lead to other folders by
/// now: another user who may write to one of them can exchange its entries.
struct FolderPermissions {
  /// The maximum number of folders that are opened. A path with links can lead to a folder at any depth.
  private static let limit = Int(PATH_MAX) / 2

  /// The folders from the first one below the root to the one of the file; `nil` for a folder that cannot be determined.
  private var levels: [FolderLevel?]
  /// The root; `nil` if it cannot be determined.
  private let root: FolderLevel?

  /// - Parameters:
  ///   - folder: the open folder of the file.
  ///   - depth: the number of components of the folder's path.
  ///   - root: the open folder beneath which the path was resolved.
  init(of folder: Int32, depth: Int, below root: Int32) {
    var status = stat()
    self.root = fstat(root, &status) == 0 ? FolderLevel(root, status) : nil
    levels = Array(repeating: nil, count: depth)
    guard depth > 0, let found = Self.levels(from: folder, to: root) else { return }
    for (index, level) in zip(levels.indices.reversed(), found) { levels[index] = level }
    // Through a link, the folder can be deeper than its path suggests. The remaining folders protect the file too.
    for level in found.dropFirst(depth) { levels[0]?.restrict(by: level) }
  }

  /// The folders from `folder` up to `root`, which is not included; `nil` if they cannot be determined.
  private static func levels(from folder: Int32, to root: Int32) -> [FolderLevel]? {
    var levels: [FolderLevel] = []
    var status = stat()
    guard fstat(root, &status) == 0 else { return nil }
    let end = FolderIdentity(status)
    var current = fcntl(folder, F_DUPFD_CLOEXEC, 0)
    defer { if current >= 0 { close(current) } }
    while current >= 0, fstat(current, &status) == 0, levels.count < limit {
      guard FolderIdentity(status) != end else { return levels }
      levels.append(FolderLevel(current, status))
      let below = current
      current = openat(below, "..", ferry_o_search | O_DIRECTORY | O_CLOEXEC)
      close(below)
    }
    return nil
  }

  /// The rights of a new folder; if they include no ACL, before the umask applies.
  ///
  /// - Parameters:
  ///   - depth: of the counterpart's path; 0 or less for a folder without a counterpart.
  ///   - folder: the open folder in which the new folder is created.
  func rights(atDepth depth: Int, in folder: Int32) -> FolderRights {
    let group = Self.newGroup(in: folder)
    let counterpart = depth > 0 ? levels[depth - 1] : root
    return counterpart?.rights(forGroup: group) ?? FolderRights(mode: 0o700)
  }

  /// Whether an existing folder gives other users access that its counterpart does not give, and another user may have
  /// caused this: with a folder of the name of the counterpart, from which ferry then moved a file, or by renaming.
  ///
  /// - Parameters:
  ///   - folder: the open folder.
  ///   - depth: of the counterpart's path; 0 or less for a folder without a counterpart.
  func areExceeded(by folder: Int32, atDepth depth: Int) -> Bool {
    // Through a link, a folder can have fewer folders above it than its path suggests, and thus no counterpart.
    guard depth > 0, let counterpart = levels[depth - 1],
      ([root] + levels[..<(depth - 1)]).contains(where: { $0?.isShared ?? true })
    else { return false }
    var status = stat()
    guard fstat(folder, &status) == 0 else { return true }
    let level = FolderLevel(folder, status)
    return level.exposesMore(than: counterpart.rights(forGroup: level.group))
  }

  /// The group of a new folder; `nil` if unknown.
  private static func newGroup(in folder: Int32) -> gid_t? {
    var status = stat()
    guard fstat(folder, &status) == 0 else { return nil }
    #if canImport(Darwin)
    return status.st_gid
    #else
    return status.st_mode & S_ISGID == 0 ? getegid() : status.st_gid
    #endif
  }
}
