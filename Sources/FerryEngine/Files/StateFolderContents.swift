import FerryJournal
import FerryTransfer
import Foundation
import Synchronization

/// The identities of what a state folder contains.
struct StateFolderContents: Sendable {
  /// The real path, without a trailing slash.
  let real: [UInt8]
  /// The identities of the folder, its entries, the entries of its subfolders, and the targets of links in `shards`. Every
  /// deeper file is below one of these folders.
  private let identities: Set<FolderIdentity>
  /// The real paths of the folders to which `shards` or links in it lead.
  let linked: [[UInt8]]
  private let parts: PartFiles

  /// Returns `nil` if there is no folder at this path.
  init?(real: [UInt8]) {
    var status = stat()
    guard stat(FileLister.terminated(real), &status) == 0 else { return nil }
    self.real = real
    parts = PartFiles(in: real)
    var identities = [FolderIdentity(status)] as Set
    FolderContents.visit(real, depth: 2) { _, identity in identities.insert(identity) }
    let linked = parts.linked
    self.linked = linked.values.compactMap(FileLister.real)
    self.identities = identities.union(linked.keys)
  }

  func contains(_ status: stat) -> Bool {
    let identity = FolderIdentity(status)
    if identities.contains(identity) {
      // If a file of the state folder has since been deleted, its inode may now belong to another file.
      guard let now = StateFolderContents(real: real) else { return true }
      return now.identities.contains(identity)
    }
    return parts.contains(status)
  }
}

/// The files in the state folders of the parts of manifests, in `shards`.
///
/// A manifest may have thousands of parts, and each of their processes lists files. Their folders are therefore read only
/// when a listed file has another name (a hard link), which may be in one of them.
private final class PartFiles: Sendable {
  /// The paths of the folders `shards`.
  private let shards: [[UInt8]]
  /// The paths of the files; `nil` until they are needed.
  private let files = Mutex<[FolderIdentity: [UInt8]]?>(nil)

  /// - Parameter state: the real path of a state folder, or of its folder `shards`.
  init(in state: [UInt8]) {
    let name = Array("/shards".utf8)
    shards = [state + name] + (state.suffix(name.count).elementsEqual(name) ? [state] : [])
  }

  /// Whether a file with several names is in the state folder of a part.
  func contains(_ status: stat) -> Bool {
    guard status.st_mode & S_IFMT != S_IFDIR, status.st_nlink > 1 else { return false }
    let identity = FolderIdentity(status)
    return files.withLock { files in
      let known = files ?? read()
      files = known
      guard let path = known[identity] else { return false }
      var now = stat()
      if lstat(FileLister.terminated(path), &now) == 0, FolderIdentity(now) == identity { return true }
      // The file was deleted or renamed. If it was deleted, its inode may now belong to another file.
      let current = read()
      files = current
      return current[identity] != nil
    }
  }

  /// The folders to which `shards` or links in it lead, with the paths of these links.
  var linked: [FolderIdentity: [UInt8]] {
    var found: [FolderIdentity: [UInt8]] = [:]
    for path in shards { FolderContents.followLinks(in: path, depth: 2, &found) }
    return found
  }

  private func read() -> [FolderIdentity: [UInt8]] {
    var found: [FolderIdentity: [UInt8]] = [:]
    // `MANIFEST/PART/sessions/FILE`. The first two may be links.
    for path in shards { FolderContents.visit(path, depth: 4, links: 2) { found[$1] = $0 } }
    return found
  }
}

private enum FolderContents {
  /// Visits everything in a folder and in its subfolders down to a depth, with paths. Entries that cannot be read are
  /// omitted.
  ///
  /// - Parameter links: the number of levels in which links to folders are followed.
  static func visit(
    _ folder: [UInt8], depth: Int, links: Int = 0, _ body: ([UInt8], FolderIdentity) -> Void
  ) {
    guard depth > 0, let stream = opendir(FileLister.terminated(folder)) else { return }
    var subfolders: [[UInt8]] = []
    while let entry = readdir(stream) {
      var status = stat()
      guard let name = name(of: entry),
        fstatat(dirfd(stream), FileLister.terminated(name), &status, links > 0 ? 0 : AT_SYMLINK_NOFOLLOW) == 0
      else { continue }
      let path = folder + [0x2F] + name
      body(path, FolderIdentity(status))
      if status.st_mode & S_IFMT == S_IFDIR { subfolders.append(path) }
    }
    closedir(stream)
    for subfolder in subfolders { visit(subfolder, depth: depth - 1, links: max(0, links - 1), body) }
  }

  /// Finds the folders to which a path, or links in the folder there, lead. Entries that are not links are not examined
  /// with stat, because there may be thousands.
  static func followLinks(in folder: [UInt8], depth: Int, _ found: inout [FolderIdentity: [UInt8]]) {
    guard let stream = opendir(FileLister.terminated(folder)) else { return }
    var status = stat()
    if lstat(FileLister.terminated(folder), &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
      fstat(dirfd(stream), &status) == 0
    {
      found[FolderIdentity(status)] = folder
    }
    var subfolders: [[UInt8]] = []
    while depth > 0, let entry = readdir(stream) {
      let type = Int32(entry.pointee.d_type)
      guard type == Int32(DT_LNK) || type == Int32(DT_UNKNOWN) || (type == Int32(DT_DIR) && depth > 1),
        let name = name(of: entry)
      else { continue }
      subfolders.append(folder + [0x2F] + name)
    }
    closedir(stream)
    for subfolder in subfolders { followLinks(in: subfolder, depth: depth - 1, &found) }
  }

  /// The name of an entry; `nil` for the folder itself and the one above it.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8]? {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name in
        Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
      }
    }
    return name == [0x2E] || name == [0x2E, 0x2E] ? nil : name
  }
}
