import FerryJournal
import FerryTransfer
import Foundation

/// ferry's state folder. Its files are never listed: they contain secret captures, and moving them would
/// destroy journals that are in use.
///
/// The folder and its contents are identified by device and inode, because a mount may show them at another path.
struct StateFolder: Sendable {
  /// The real path, without a trailing slash.
  private let real: [UInt8]
  /// The identities of the folder, its entries, and the entries of its subfolders. Every deeper file is below one of
  /// these folders.
  private let identities: Set<FolderIdentity>

  /// Returns `nil` if there is no folder at this path.
  init?(path: String) {
    guard let real = FileLister.real(Array(path.utf8)) else { return nil }
    self.init(real: real)
  }

  private init?(real: [UInt8]) {
    var status = stat()
    guard stat(FileLister.terminated(real), &status) == 0 else { return nil }
    self.real = real
    identities = Self.contents(of: real, depth: 2).union([FolderIdentity(status)])
  }

  /// Whether an open folder is the state folder or one of its subfolders, regardless of its current name.
  func isOpen(as descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && contains(status)
  }

  /// Whether the file or folder with this status is the state folder or in it. A file below the recorded levels is
  /// not recognized itself, but the folder that contains it is.
  func contains(_ status: stat) -> Bool {
    let identity = FolderIdentity(status)
    guard identities.contains(identity) else { return false }
    // If a file of the state folder has since been deleted, its inode may now belong to another file.
    guard let now = StateFolder(real: real) else { return true }
    return now.identities.contains(identity)
  }

  /// Whether a real path is the state folder or in it.
  func contains(real path: [UInt8]) -> Bool { FileLister.isInside(path, real) }

  /// The state folder's path relative to a root, which is given by its real path; `nil` if the folder is not below
  /// the root.
  func path(below root: [UInt8]) -> [UInt8]? {
    guard FileLister.isInside(real, root), real != root else { return nil }
    return Array(real.dropFirst(root == [0x2F] ? 1 : root.count + 1))
  }

  /// The identities of everything in a folder and in its subfolders down to a depth. Entries that cannot be read are
  /// omitted.
  private static func contents(of folder: [UInt8], depth: Int) -> Set<FolderIdentity> {
    guard depth > 0, let stream = opendir(FileLister.terminated(folder)) else { return [] }
    defer { closedir(stream) }
    var found: Set<FolderIdentity> = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name in
          Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
        }
      }
      var status = stat()
      guard name != [0x2E], name != [0x2E, 0x2E],
        fstatat(dirfd(stream), FileLister.terminated(name), &status, AT_SYMLINK_NOFOLLOW) == 0
      else { continue }
      found.insert(FolderIdentity(status))
      if status.st_mode & S_IFMT == S_IFDIR {
        found.formUnion(contents(of: folder + [0x2F] + name, depth: depth - 1))
      }
    }
    return found
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
