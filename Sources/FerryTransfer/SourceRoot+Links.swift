import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension SourceRoot {
  /// The file or folder at the end of a path, and the owners of the symbolic links in the path.
  package struct Target {
    package var status: stat
    package var linkOwners: [uid_t]
    /// Whether the last component of the path is a link.
    package var isLink = false
    /// Whether one of these links has several names (hard links), which its owner need not have created.
    package var hasSharedLink = false
    /// The folder that contains the target.
    package var folder = stat()
    /// Whether the target is in one of the folders to be avoided.
    package var isAvoided = false
  }

  /// The maximum number of links followed for one path, as in Linux (path_resolution(7)).
  private static let linkLimit = 40
  /// The maximum number of components looked up for one path: 40 links of 4,095 bytes could have 80,000
  /// components.
  private static let stepLimit = 4096

  /// Follows a path component by component, and reads each link together with its owner.
  ///
  /// - Parameters:
  ///   - relative: the path beneath the folder.
  ///   - isAvoided: returns whether an open folder is to be avoided; called for each folder that contains the target.
  ///     Paths are not compared, because a path may exceed the kernel's length limit.
  package func target(
    of relative: [UInt8], avoiding isAvoided: ((CInt) -> Bool)? = nil
  ) throws(OpenFailure) -> Target {
    guard !relative.contains(0) else { throw .system(ENOENT) }
    /// The folders from the root to the current folder.
    var folders: [CInt] = []
    defer { for folder in folders { close(folder) } }
    /// The remaining components, in reverse order.
    var names = Self.names(relative)
    var owners: [uid_t] = []
    var (isLink, hasSharedLink) = (false, false)
    var status = stat()
    var steps = 0
    /// Returns to the root, with `path` as the remaining components.
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
          // The path leaves the root and may return to it.
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
        if status.st_nlink > 1 { hasSharedLink = true }
        if names.isEmpty { isLink = true }
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
        var target = Target(
          status: status, linkOwners: owners, isLink: isLink, hasSharedLink: hasSharedLink,
          isAvoided: isAvoided.map { folders.contains(where: $0) } ?? false)
        guard fstat(folder, &target.folder) == 0 else { throw .system(errno) }
        return target
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

    /// Performs fstatat(2) for a name in the folder without following a link. Returns false and sets `errno`
    /// on failure.
    package func status(of name: [UInt8], _ status: inout stat) -> Bool {
      name.withPath { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
    }
  }

  /// Opens a folder component by component; `nil` if a component is a link, or if the folder cannot be
  /// opened.
  ///
  /// - Parameters:
  ///   - relative: the folder's path beneath this folder; empty for this folder itself.
  ///   - visit: called with each open folder on the path below this folder.
  package func plainFolder(_ relative: [UInt8], visiting visit: (CInt) -> Void = { _ in }) -> PlainFolder? {
    let flags = ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var current = openat(descriptor, ".", flags)
    for name in Self.names(relative).reversed() where current >= 0 {
      let above = current
      current = name == Self.above ? -1 : name.withPath { openat(above, $0, flags) }
      if current >= 0 { visit(current) }
      close(above)
    }
    return current < 0 ? nil : PlainFolder(current)
  }

  private static let above: [UInt8] = [0x2E, 0x2E]

  /// The components of a path without `.`, in reverse order.
  private static func names(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [0x2E] }.reversed()
  }

  /// The components of an absolute path below the root. Fails with `leavesRoot` if the path is not below the
  /// root.
  private func below(root absolute: [[UInt8]]) throws(OpenFailure) -> [[UInt8]] {
    var plain: [[UInt8]] = []
    var rest = absolute[...]
    let roots = [Self.names(path), Self.names(real)].map { Array($0.reversed()) }
    // Only the part up to the root is resolved: below it, `..` is relative to the target of a link.
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
      case .foreign, .severalNames: throw .leavesRoot
      }
    }
  }
}
