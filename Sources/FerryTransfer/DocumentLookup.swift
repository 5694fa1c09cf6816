import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Looks up the files that downloads have stored beneath a folder, by the rules for storing them: a link is not followed, and
/// in a world-writable folder, entries of other users do not count.
///
/// The folders of the last path remain open. If paths are looked up in byte order, each folder is opened once.
package struct DocumentLookup: ~Copyable {
  private struct Folder {
    var name: [UInt8]
    /// -1 if the folder cannot be used.
    var descriptor: CInt
    var status = stat()
  }

  /// The folders of the last path, beginning with the base folder, whose name is empty.
  private var folders: [Folder] = []

  package init(beneath base: SourceRoot) {
    // A folder that cannot be used contains no files, and storing a document there reports the reason.
    let descriptor = (try? FolderPath.descriptor(of: base.path, trusting: .ownEntries)) ?? -1
    add(Folder(name: [], descriptor: descriptor))
  }

  deinit {
    for folder in folders where folder.descriptor >= 0 { close(folder.descriptor) }
  }

  /// The status of a regular file; `nil` if there is none that may be used.
  package mutating func status(of path: ArraySlice<UInt8>) -> stat? {
    let names = path.split(separator: UInt8(ascii: "/"))
    guard let name = names.last else { return nil }
    open(names.dropLast())
    let folder = folders[folders.count - 1]
    var status = stat()
    guard folder.descriptor >= 0,
      Array(name).withPath({ fstatat(folder.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0,
      status.st_mode & S_IFMT == S_IFREG, FolderPath.foreignOwner(of: status, in: folder.status) == nil
    else { return nil }
    return status
  }

  /// Opens the folders of a path that are not open yet, and closes the others.
  private mutating func open(_ names: ArraySlice<ArraySlice<UInt8>>) {
    var depth = 1
    while depth < folders.count, depth <= names.count, folders[depth].name.elementsEqual(names[depth - 1]) {
      depth += 1
    }
    for folder in folders[depth...] where folder.descriptor >= 0 { close(folder.descriptor) }
    folders.removeSubrange(depth...)
    for name in names[(depth - 1)...] {
      let above = folders[folders.count - 1].descriptor
      let flags = ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
      let name = Array(name)
      add(Folder(name: name, descriptor: above < 0 ? -1 : name.withPath { openat(above, $0, flags) }))
    }
  }

  private mutating func add(_ folder: Folder) {
    var folder = folder
    let isUsable =
      folder.descriptor >= 0 && fstat(folder.descriptor, &folder.status) == 0
      && FolderPath.foreignOwner(of: folder.status, in: folders.last?.status) == nil
    if !isUsable, folder.descriptor >= 0 {
      close(folder.descriptor)
      folder.descriptor = -1
    }
    folders.append(folder)
  }
}
