import FerryJournal
import FerryTransfer
import Foundation
import Synchronization

/// The identities of what a state folder contains.
struct StateFolderContents: Sendable {
  /// The real path, without a trailing slash.
  let real: [UInt8]
  /// The identities of the folder, its entries, the entries of its subfolders, and the state folders of parts. Every
  /// deeper file is below one of these folders.
  private let identities: Set<FolderIdentity>
  private let parts: PartFiles

  /// Returns `nil` if there is no folder at this path.
  init?(real: [UInt8]) {
    var status = stat()
    guard stat(FileLister.terminated(real), &status) == 0 else { return nil }
    self.real = real
    parts = PartFiles(in: real)
    var identities = parts.folders
    identities.insert(FolderIdentity(status))
    FolderContents.visit(real, depth: 2) { _, identity in identities.insert(identity) }
    self.identities = identities
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
/// when a listed file has another name (a hard link), which may be in one of them. A folder is not read to recognize a
/// mount of it: its entry in the folder above contains its inode.
private final class PartFiles: Sendable {
  /// The paths of the folders `shards`.
  private let shards: [[UInt8]]
  /// The paths of the state folders of parts that are links.
  private let links: [[UInt8]]
  private let devices: Set<UInt64>
  /// The identities of the state folders of parts, and of the folders that contain them.
  let folders: Set<FolderIdentity>
  /// The paths of the files; `nil` until they are needed.
  private let files = Mutex<[FolderIdentity: [UInt8]]?>(nil)

  /// - Parameter state: the real path of a state folder, or of its folder `shards`.
  init(in state: [UInt8]) {
    let name = Array("/shards".utf8)
    var (shards, devices, folders): ([[UInt8]], Set<UInt64>, Set<FolderIdentity>) = ([], [], [])
    var links: [[UInt8]] = []
    for path in [state + name] + (state.suffix(name.count).elementsEqual(name) ? [state] : []) {
      var status = stat()
      guard stat(FileLister.terminated(path), &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        continue
      }
      shards.append(path)
      devices.insert(UInt64(status.st_dev))
      FolderContents.visitEntries(path) { manifest, _, _, _ in
        let manifest = path + [0x2F] + manifest
        FolderContents.visitEntries(manifest) { part, identity, _, mayBeLink in
          folders.insert(identity)
          let part = manifest + [0x2F] + part
          guard mayBeLink, stat(FileLister.terminated(part), &status) == 0 else { return }
          links.append(part)
          devices.insert(UInt64(status.st_dev))
          folders.insert(FolderIdentity(status))
        }
      }
    }
    (self.shards, self.links, self.devices, self.folders) = (shards, links, devices, folders)
  }

  /// Whether a file with several names is in the state folder of a part.
  func contains(_ status: stat) -> Bool {
    guard status.st_mode & S_IFMT != S_IFDIR, status.st_nlink > 1,
      devices.contains(UInt64(status.st_dev))
    else { return false }
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

  private func read() -> [FolderIdentity: [UInt8]] {
    var found: [FolderIdentity: [UInt8]] = [:]
    // `MANIFEST/PART/sessions/FILE`
    for path in shards { FolderContents.visit(path, depth: 4) { found[$1] = $0 } }
    for path in links { FolderContents.visit(path, depth: 2) { found[$1] = $0 } }
    return found
  }
}

private enum FolderContents {
  /// Visits everything in a folder and in its subfolders down to a depth, with paths. Entries that cannot be read are
  /// omitted, and links are not followed.
  static func visit(_ folder: [UInt8], depth: Int, _ body: ([UInt8], FolderIdentity) -> Void) {
    guard depth > 0 else { return }
    var subfolders: [[UInt8]] = []
    visitEntries(folder) { name, _, descriptor, _ in
      var status = stat()
      guard fstatat(descriptor, FileLister.terminated(name), &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        return
      }
      let path = folder + [0x2F] + name
      body(path, FolderIdentity(status))
      if status.st_mode & S_IFMT == S_IFDIR { subfolders.append(path) }
    }
    for subfolder in subfolders { visit(subfolder, depth: depth - 1, body) }
  }

  /// Visits the entries of a folder with their names, their identities according to the folder, the folder's descriptor,
  /// and whether they may be links. The identity of an entry at which a file system is mounted is that of the folder below the mount.
  static func visitEntries(_ folder: [UInt8], _ body: ([UInt8], FolderIdentity, Int32, Bool) -> Void) {
    guard let stream = opendir(FileLister.terminated(folder)) else { return }
    defer { closedir(stream) }
    var status = stat()
    guard fstat(dirfd(stream), &status) == 0 else { return }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name in
          Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
        }
      }
      guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
      body(
        name, FolderIdentity(device: UInt64(status.st_dev), inode: UInt64(entry.pointee.d_ino)),
        dirfd(stream), [UInt8(DT_LNK), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type))
    }
  }
}
