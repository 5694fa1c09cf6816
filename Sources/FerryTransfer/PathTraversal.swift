import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Follows a path beneath a root component by component. It opens each folder without following a link, and reads each
/// link together with its status, so that everything it reports belongs to the same links and folders, even if names are
/// exchanged in the meantime.
struct PathTraversal: ~Copyable {
  /// The maximum number of links followed for one path, as in Linux (path_resolution(7)).
  private static let linkLimit = 40

  private let root: SourceRoot
  /// The maximum number of components.
  private let limit: Int
  /// The open folders from the root, which is not included, to the current folder.
  private(set) var folders: [CInt] = []
  /// The remaining components, in reverse order.
  private var names: [[UInt8]] = []
  /// The number of components of the path and of the links followed so far.
  private(set) var count = 0
  /// The owners of the links followed so far.
  private(set) var linkOwners: [uid_t] = []
  /// Whether one of these links has several names (hard links).
  private(set) var hasSharedLink = false
  /// The status of the last component of the path itself, which may be a link; `nil` if the traversal did not reach it.
  private(set) var entry: stat?
  /// The status of the file or folder at the end.
  private(set) var status = stat()

  init(_ root: SourceRoot, limit: Int) {
    self.root = root
    self.limit = limit
  }

  deinit { for folder in folders { close(folder) } }

  /// The current folder.
  var folder: CInt { folders.last ?? root.descriptor }

  /// Follows the path to its end.
  ///
  /// - Returns: the name of the file in the current folder; `nil` if the path leads to the current folder itself.
  mutating func follow(_ path: [UInt8]) throws(SourceRoot.OpenFailure) -> [UInt8]? {
    // A NUL would end the path early.
    guard !path.contains(0) else { throw .system(ENOENT) }
    try push(path)
    while let name = names.popLast() {
      guard name != SourceRoot.above else {
        if let last = folders.popLast() {
          close(last)
        } else {
          // The path leaves the root and may return to it.
          try returnToRoot(from: root.realComponents.dropLast())
        }
        continue
      }
      // Most components are folders, which can be opened at once.
      if !names.isEmpty, try enter(name) { continue }
      guard name.withPath({ fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
        throw .system(errno)
      }
      switch status.st_mode & S_IFMT {
      case S_IFLNK: try followLink(name)
      case S_IFDIR: guard try enter(name) else { throw .system(ENOTDIR) }
      default:
        guard names.isEmpty else { throw .system(ENOTDIR) }
        if entry == nil { entry = status }
        return name
      }
    }
    guard fstat(folder, &status) == 0 else { throw .system(errno) }
    return nil
  }

  /// Opens a folder in the current folder; returns false if the name is that of a link or a file.
  private mutating func enter(_ name: [UInt8]) throws(SourceRoot.OpenFailure) -> Bool {
    let opened = name.withPath { openat(folder, $0, ferry_o_search | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    guard opened >= 0 else {
      // openat(2) with O_NOFOLLOW and O_DIRECTORY reports a link as ENOTDIR.
      guard errno == ENOTDIR || errno == ELOOP else { throw .system(errno) }
      return false
    }
    folders.append(opened)
    return true
  }

  private mutating func followLink(_ name: [UInt8]) throws(SourceRoot.OpenFailure) {
    let (target, link) = try Self.link(name, in: folder)
    // Only the last component of the path itself leaves no other components.
    if names.isEmpty, entry == nil { entry = link }
    linkOwners.append(link.st_uid)
    if link.st_nlink > 1 { hasSharedLink = true }
    guard linkOwners.count <= Self.linkLimit else { throw .system(ELOOP) }
    try push(target)
    if target.first == UInt8(ascii: "/") { try returnToRoot(from: []) }
  }

  /// Adds the components of a path to those that remain. At most the permitted number of components is read.
  private mutating func push(_ path: [UInt8]) throws(SourceRoot.OpenFailure) {
    let components = path.split(separator: UInt8(ascii: "/"), maxSplits: limit - count)
    count += components.count
    guard count <= limit else { throw .tooManySteps }
    for name in components.reversed() where !name.elementsEqual([0x2E]) { names.append(Array(name)) }
  }

  /// Continues at a path outside the root, and consumes the remaining components up to the root. Fails with `leavesRoot` if
  /// they do not lead there.
  ///
  /// Only these components are resolved by their text: below the root, `..` is relative to the target of a link.
  private mutating func returnToRoot(from outside: [[UInt8]].SubSequence) throws(SourceRoot.OpenFailure) {
    for folder in folders { close(folder) }
    folders = []
    var outside = Array(outside)
    while outside != root.realComponents, outside != root.givenComponents {
      guard let name = names.popLast() else { throw .leavesRoot }
      if name == SourceRoot.above { _ = outside.popLast() } else { outside.append(name) }
    }
  }

  private static func link(
    _ name: [UInt8], in folder: CInt
  ) throws(SourceRoot.OpenFailure) -> (target: [UInt8], status: stat) {
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
