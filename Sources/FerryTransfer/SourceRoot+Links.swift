import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension SourceRoot {
  /// What a path leads to, and the owners of the symbolic links on its way.
  package struct Target {
    package var status: stat
    package var linkOwners: [uid_t]
    /// Whether it is in one of the folders to be avoided.
    package var isAvoided = false
  }

  /// Links that are followed for one path, as many as Linux follows (path_resolution(7)).
  private static let linkLimit = 40
  /// Names that are looked up for one path: 40 links of 4,095 bytes could have 80,000.
  private static let stepLimit = 4096

  /// Follows a path name by name, and reads each link together with its owner.
  ///
  /// - Parameters:
  ///   - relative: the path beneath the folder.
  ///   - isAvoided: returns whether an open folder is to be avoided. Asked about each folder that contains the target;
  ///     paths are not compared, because a path may be longer than the kernel accepts.
  package func target(
    of relative: [UInt8], avoiding isAvoided: ((CInt) -> Bool)? = nil
  ) throws(OpenFailure) -> Target {
    guard !relative.contains(0) else { throw .system(ENOENT) }
    /// The folders below the root that lead to the present one.
    var folders: [CInt] = []
    defer { for folder in folders { close(folder) } }
    /// The last one comes first.
    var names = Self.names(relative)
    var owners: [uid_t] = []
    var status = stat()
    var steps = 0
    /// Goes back to the root.
    func start(_ path: [[UInt8]]) {
      for folder in folders { close(folder) }
      folders = []
      names = path.reversed()
    }
    while let name = names.popLast() {
      steps += 1
      guard steps <= Self.stepLimit else { throw .system(ELOOP) }
      if name == Self.above {
        if let last = folders.popLast() {
          close(last)
        } else {
          // The path leaves the root, and may return to it.
          start(try below(root: Array(Self.names(real).dropFirst().reversed()) + names.reversed()))
        }
        continue
      }
      let folder = folders.last ?? descriptor
      guard name.withPath({ fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
        throw .system(errno)
      }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        let link = try link(name, in: folder)
        owners.append(link.owner)
        guard owners.count <= Self.linkLimit else { throw .system(ELOOP) }
        if link.target.first == UInt8(ascii: "/") {
          start(try below(root: Self.names(link.target).reversed() + names.reversed()))
        } else {
          names += Self.names(link.target)
        }
      case S_IFDIR:
        let flags = ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = name.withPath { openat(folder, $0, flags) }
        guard opened >= 0 else { throw .system(errno) }
        folders.append(opened)
      default:
        guard names.isEmpty else { throw .system(ENOTDIR) }
        return Target(
          status: status, linkOwners: owners,
          isAvoided: isAvoided.map { folders.contains(where: $0) } ?? false)
      }
    }
    guard fstat(folders.last ?? descriptor, &status) == 0 else { throw .system(errno) }
    return Target(status: status, linkOwners: owners)
  }

  /// A folder beneath the root, opened without following a link.
  package final class PlainFolder: Sendable {
    private let descriptor: CInt

    fileprivate init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The result of fstatat(2) for a name in the folder, which is not followed if it is a link. Returns false and sets
    /// `errno` on failure.
    package func status(of name: [UInt8], _ status: inout stat) -> Bool {
      name.withPath { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
    }
  }

  /// Opens a folder name by name; `nil` if a link is on the way, if the folder is a link, or if it cannot be opened.
  ///
  /// - Parameter relative: the folder's path beneath this one; this one's is empty.
  package func plainFolder(_ relative: [UInt8]) -> PlainFolder? {
    let flags = ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var current = openat(descriptor, ".", flags)
    for name in Self.names(relative).reversed() where current >= 0 {
      let above = current
      current = name == Self.above ? -1 : name.withPath { openat(above, $0, flags) }
      close(above)
    }
    return current < 0 ? nil : PlainFolder(current)
  }

  private static let above: [UInt8] = [0x2E, 0x2E]

  /// The names of a path without `.`, the last one first.
  private static func names(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [0x2E] }.reversed()
  }

  /// The names below the root of an absolute path. Fails with `leavesRoot` if the path is not one of the root's names.
  private func below(root absolute: [[UInt8]]) throws(OpenFailure) -> [[UInt8]] {
    var plain: [[UInt8]] = []
    var rest = absolute[...]
    let roots = [Self.names(path), Self.names(real)].map { Array($0.reversed()) }
    // Only as far as it leads to the root: below, `..` is relative to where a link leads.
    while !roots.contains(plain) || plain.isEmpty && real != [UInt8(ascii: "/")] {
      guard let name = rest.popFirst() else { throw .leavesRoot }
      if name == Self.above { _ = plain.popLast() } else { plain.append(name) }
    }
    return Array(rest)
  }

  private func link(_ name: [UInt8], in folder: CInt) throws(OpenFailure) -> (target: [UInt8], owner: uid_t) {
    do throws(FolderPath.Failure) {
      return try FolderPath.link(name, in: folder)
    } catch {
      switch error {
      case .system(let code): throw .system(code)
      case .foreign: throw .leavesRoot
      }
    }
  }
}
