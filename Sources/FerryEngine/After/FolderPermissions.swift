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

  private struct Counterpart {
    var level: FolderLevel
    /// Whether a folder above it is shared, so that another user may have renamed or exchanged it.
    var isBelowShared: Bool
  }

  /// The folders from the first one below the root to the one of the file; `nil` for a folder that does not exist because a
  /// link leads to a folder with fewer folders above it, or that cannot be determined.
  private var counterparts: [Counterpart?]
  /// The folders that the path of the file names, up to the first link; empty if none of `counterparts` is `nil`.
  private var named: [FolderLevel] = []
  /// Whether the folders above that of the file could be determined. Another user can prevent this.
  private let isKnown: Bool
  /// The folder of the file; `nil` if it cannot be determined.
  private let source: FolderIdentity?
  /// The root; `nil` if it cannot be determined.
  private let root: FolderLevel?

  /// - Parameters:
  ///   - source: the open folder of the file.
  ///   - root: the open folder beneath which the path was resolved.
  init(of source: OpenFolders.Source, below root: Int32) {
    let depth = source.depth
    var status = stat()
    self.source = fstat(source.descriptor, &status) == 0 ? FolderIdentity(status) : nil
    self.root = fstat(root, &status) == 0 ? FolderLevel(root, status) : nil
    counterparts = Array(repeating: nil, count: depth)
    let found = depth > 0 ? Self.levels(from: source.descriptor, to: root) : []
    isKnown = found != nil
    guard let found else { return }
    // The folders of a path with links, which are not above the file's folder, can be shared, too.
    var isShared = source.passesLink || self.root?.isShared ?? true
    for (distance, level) in found.enumerated().reversed() {
      if distance < depth {
        counterparts[depth - 1 - distance] = .init(level: level, isBelowShared: isShared)
      }
      isShared = isShared || level.isShared
    }
    if found.count < depth { named = Self.levels(named: source.names, in: root) }
    // Through a link, the folder can be deeper than its path suggests. The remaining folders protect the file too.
    for level in found.dropFirst(depth) { counterparts[0]?.level.restrict(by: level) }
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

  /// The folders of a path, up to the first one that cannot be opened or is a link.
  private static func levels(named names: [ArraySlice<UInt8>], in root: Int32) -> [FolderLevel] {
    var levels: [FolderLevel] = []
    var current = fcntl(root, F_DUPFD_CLOEXEC, 0)
    defer { if current >= 0 { close(current) } }
    for name in names {
      let above = current
      defer { close(above) }
      current = openat(
        above, FileLister.terminated(Array(name)), ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      var status = stat()
      guard current >= 0, fstat(current, &status) == 0 else { break }
      levels.append(FolderLevel(current, status))
    }
    return levels
  }

  /// The rights of a new folder; if they include no ACL, before the umask applies.
  ///
  /// - Parameters:
  ///   - depth: of the counterpart's path; 0 or less for a folder without a counterpart.
  ///   - folder: the open folder in which the new folder is created.
  func rights(atDepth depth: Int, in folder: Int32) -> FolderRights {
    let group = Self.newGroup(in: folder)
    let counterpart = depth > 0 ? counterparts[depth - 1]?.level : root
    return counterpart?.rights(forGroup: group) ?? FolderRights(mode: 0o700)
  }

  /// Whether an existing folder gives other users access that its counterpart does not give, and another user may have
  /// caused this: with a folder of the name of the counterpart, from which ferry then moved a file, or by renaming.
  ///
  /// - Parameters:
  ///   - folder: the open folder.
  ///   - depth: of the counterpart's path; 0 or less for a folder without a counterpart.
  func areExceeded(by folder: Int32, atDepth depth: Int) -> Bool {
    guard depth > 0 else { return false }
    guard !isKnown || counterparts[depth - 1]?.isBelowShared ?? root?.isShared ?? true else { return false }
    var status = stat()
    guard fstat(folder, &status) == 0 else { return true }
    // A link can lead from the path of the file to the same folder.
    guard FolderIdentity(status) != source else { return false }
    let level = FolderLevel(folder, status)
    // Without a counterpart, the folder can have been created for other files, from the folder that the path names.
    let counterpart = counterparts[depth - 1]?.level ?? (depth <= named.count ? named[depth - 1] : nil)
    guard [geteuid(), 0, counterpart?.owner].contains(level.owner) else { return true }
    return level.exposesMore(
      than: counterpart?.rights(forGroup: level.group) ?? FolderRights(mode: 0o700))
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
