import FerryJournal
import FerryTransfer
import Foundation

/// ferry's state folder. Its files are never listed: they contain secret captures, and moving them would
/// destroy journals that are in use.
///
/// The folder and its contents are identified by device and inode, because a mount may show them at another path. Folders
/// that contain a file of the state of shards are also recognized: they may be created during the listing, and links may
/// lead to them.
struct StateFolder: Sendable {
  private let folders: [StateFolderContents]

  /// The state folder of a command, which need not exist. If it belongs to a part of a manifest, the state of the whole
  /// manifest is included.
  init(of state: StateDirectory) throws(JournalError) { self.init(try state.ownFolders) }

  /// - Parameter path: the path of a folder, which need not exist.
  init(path: String) { self.init([path]) }

  private init(_ paths: [String]) {
    folders = paths.compactMap { FileLister.real(Array($0.utf8)).flatMap(StateFolderContents.init(real:)) }
  }

  enum Membership: Hashable {
    case none
    /// The folder is part of this run's state.
    case own
    /// The folder contains a file of the state of shards, but is not known to be part of this run's state. It may be the
    /// state of another run, or another program may have created the file, so its files are neither sent nor silently
    /// skipped.
    case unknown

    static let unknownMessage =
      "the folder contains ferry's file 'shard' or 'count', which marks a state folder. Exclude the folder, or remove that "
      + "file if the folder contains no state of ferry"
  }

  /// Whether an open folder is the state folder or one of its subfolders, or contains the state of parts, regardless of its
  /// current name.
  func membership(of descriptor: Int32) -> Membership {
    isOwn(descriptor) ? .own : StateDirectory.isOfShards(descriptor) ? .unknown : .none
  }

  /// Whether an open folder is the state folder or one of its subfolders.
  func isOwn(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && contains(status)
  }

  /// Whether an open folder must not be listed.
  func isOpen(as descriptor: Int32) -> Bool { membership(of: descriptor) != .none }

  /// Whether a path, which contains a link, leads into a folder that looks like state, but not into this run's state.
  func isUnknown(_ path: [UInt8], below root: SourceRoot) -> Bool {
    guard let target = try? root.target(of: path, avoiding: { membership(of: $0) == .own }) else {
      return false
    }
    return !target.isAvoided && !contains(target.status)
  }

  /// The number of levels from an open folder up to the folder that contains a file of the state of shards: 0 for the folder
  /// itself; `nil` if there is no such file.
  static func levelsToParts(_ descriptor: Int32) -> Int? {
    var current = dup(descriptor)
    defer { if current >= 0 { close(current) } }
    var levels = 0
    while current >= 0 {
      if StateDirectory.isOfShards(current) { return levels }
      let above = openat(current, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      var (status, statusAbove) = (stat(), stat())
      let isTop =
        fstat(current, &status) != 0 || fstat(above, &statusAbove) != 0
        || FolderIdentity(status) == FolderIdentity(statusAbove)
      close(current)
      current = above
      levels += 1
      if isTop { return nil }
    }
    return nil
  }

  /// Whether the file or folder with this status is the state folder or in it. A file below the recorded levels is
  /// not recognized itself, but the folder that contains it is.
  func contains(_ status: stat) -> Bool { folders.contains { $0.contains(status) } }

  /// Whether a real path is the state folder or in it.
  func contains(real path: [UInt8]) -> Bool { folders.contains { FileLister.isInside(path, $0.real) } }

  /// The paths of the state folder, and of the folders to which links in `shards` lead, relative to a root, which is given by
  /// its real path. Folders that are not below the root are omitted.
  func paths(below root: [UInt8]) -> [[UInt8]] {
    folders.flatMap { [$0.real] + $0.linked }.filter { FileLister.isInside($0, root) && $0 != root }
      .map { Array($0.dropFirst(root == [0x2F] ? 1 : root.count + 1)) }
  }
}

extension FolderIdentity {
  init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }

  func isOpen(as descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && FolderIdentity(status) == self
  }
}

extension SourceRoot {
  /// The identity of a folder below the root; `nil` if the folder does not exist. Its path must not contain a
  /// link.
  func identity(of folder: [UInt8]) -> FolderIdentity? {
    var status = stat()
    guard !folder.isEmpty, let opened = plainFolder(folder), opened.status(of: [0x2E], &status) else {
      return nil
    }
    return FolderIdentity(status)
  }
}
