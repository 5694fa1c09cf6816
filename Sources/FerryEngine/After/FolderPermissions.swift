import CFiles
import FerryJournal
import Foundation

/// The permissions of the folders that contain a file, from which those of new folders are derived when the file is moved.
///
/// The folders are found through `..` from the folder of the file, which is open. A path could lead to other folders by
/// now: another user who may write to one of them can exchange its entries.
struct FolderPermissions {
  private struct Level {
    var mode: mode_t
    var group: gid_t
  }

  /// The maximum number of folders that are opened. A path with links can lead to a folder at any depth.
  private static let limit = Int(PATH_MAX) / 2

  /// The folders from the first one below the root to the one of the file; `nil` for a folder that cannot be determined.
  private var levels: [Level?]

  /// - Parameters:
  ///   - folder: the open folder of the file.
  ///   - depth: the number of components of the folder's path.
  ///   - root: the open folder beneath which the path was resolved.
  init(of folder: Int32, depth: Int, below root: Int32) {
    levels = Array(repeating: nil, count: depth)
    guard depth > 0, let found = Self.levels(from: folder, to: root) else { return }
    for (index, level) in zip(levels.indices.reversed(), found) { levels[index] = level }
    // Through a link, the folder can be deeper than its path suggests. The remaining folders protect the file too.
    for level in found.dropFirst(depth) {
      levels[0]?.mode &= level.mode
      if levels[0]?.group != level.group { levels[0]?.mode &= ~0o070 }
    }
  }

  /// The folders from `folder` up to `root`, which is not included; `nil` if they cannot be determined.
  private static func levels(from folder: Int32, to root: Int32) -> [Level]? {
    var levels: [Level] = []
    var status = stat()
    guard fstat(root, &status) == 0 else { return nil }
    let end = FolderIdentity(status)
    var current = fcntl(folder, F_DUPFD_CLOEXEC, 0)
    defer { if current >= 0 { close(current) } }
    while current >= 0, fstat(current, &status) == 0, levels.count < limit {
      guard FolderIdentity(status) != end else { return levels }
      // In a sticky folder, only the owner of a file can remove it.
      let mode = status.st_mode & (status.st_mode & S_ISVTX == 0 ? 0o777 : 0o755)
      levels.append(Level(mode: mode, group: status.st_gid))
      let below = current
      current = openat(below, "..", ferry_o_search | O_DIRECTORY | O_CLOEXEC)
      close(below)
    }
    return nil
  }

  /// The mode, before the umask applies, of a new folder.
  ///
  /// - Parameters:
  ///   - depth: of the counterpart's path; 0 or less for a folder without a counterpart.
  ///   - folder: the open folder in which the new folder is created.
  func mode(atDepth depth: Int, in folder: Int32) -> mode_t {
    guard depth > 0 else { return 0o777 }
    guard let level = levels[depth - 1] else { return 0o700 }
    // The group bits would otherwise apply to another group.
    return level.group == Self.newGroup(in: folder) ? level.mode : level.mode & ~0o070
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
