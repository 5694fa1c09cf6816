import FerryJournal
import FerryTransfer
import Foundation

/// ferry's state folder. Its files are never listed: they contain secret captures, and moving them would
/// destroy journals that are in use.
///
/// The folder and its contents are identified by device and inode, because a mount may show them at another path. The
/// state folders of parts are also identified by what they contain: they may be created during the listing, and links may
/// lead to them.
struct StateFolder: Sendable {
  private let folders: [StateFolderContents]

  /// The state folder of a command, which may not exist. If it is that of a part, the state of the whole manifest is
  /// included.
  init(of state: StateDirectory) throws(JournalError) { self.init(try state.ownFolders) }

  /// - Parameter path: the path of a folder, which may not exist.
  init(path: String) { self.init([path]) }

  private init(_ paths: [String]) {
    folders = paths.compactMap { FileLister.real(Array($0.utf8)).flatMap(StateFolderContents.init(real:)) }
  }

  /// Whether an open folder is the state folder or one of its subfolders, or contains the state of parts, regardless of its
  /// current name.
  func isOpen(as descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && contains(status) || StateDirectory.isOfShards(descriptor)
  }

  /// Whether the file or folder with this status is the state folder or in it. A file below the recorded levels is
  /// not recognized itself, but the folder that contains it is.
  func contains(_ status: stat) -> Bool { folders.contains { $0.contains(status) } }

  /// Whether a real path is the state folder or in it.
  func contains(real path: [UInt8]) -> Bool { folders.contains { FileLister.isInside(path, $0.real) } }

  /// The paths of the state folder relative to a root, which is given by its real path; empty if it is not below the
  /// root.
  func paths(below root: [UInt8]) -> [[UInt8]] {
    folders.map(\.real).filter { FileLister.isInside($0, root) && $0 != root }
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
