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
    /// The status of the last component of the path, read together with the link's text if it is a link; `nil` for a folder.
    package var entry: stat?
    /// Whether one of these links has several names (hard links), which its owner need not have created.
    package var hasSharedLink = false
    /// The folder that contains the target.
    package var folder = stat()
    /// Whether the target is in one of the folders to be avoided.
    package var isAvoided = false

    /// Whether the last component of the path is a link.
    package var isLink: Bool { entry.map { $0.st_mode & S_IFMT == S_IFLNK } ?? false }
  }

  /// Follows a path component by component, and reads each link together with its owner.
  ///
  /// - Parameters:
  ///   - relative: the path beneath the folder.
  ///   - isAvoided: returns whether an open folder is to be avoided; called for each folder that contains the target.
  ///     Paths are not compared, because a path may exceed the kernel's length limit.
  ///   - budget: the budget of the listing to which the path belongs.
  package func target(
    of relative: [UInt8], avoiding isAvoided: ((CInt) -> Bool)? = nil, within budget: inout LookupBudget
  ) throws(OpenFailure) -> Target {
    var traversal = PathTraversal(self, limit: budget.limit)
    defer { budget.spend(traversal.count) }
    guard try traversal.follow(relative) != nil else {
      return Target(status: traversal.status, linkOwners: traversal.linkOwners)
    }
    var target = Target(
      status: traversal.status, linkOwners: traversal.linkOwners, entry: traversal.entry,
      hasSharedLink: traversal.hasSharedLink,
      isAvoided: isAvoided.map { traversal.folders.contains(where: $0) } ?? false)
    guard fstat(traversal.folder, &target.folder) == 0 else { throw .system(errno) }
    return target
  }

  /// Follows a path that does not belong to a listing.
  package func target(
    of relative: [UInt8], avoiding isAvoided: ((CInt) -> Bool)? = nil
  ) throws(OpenFailure) -> Target {
    var budget = LookupBudget()
    return try target(of: relative, avoiding: isAvoided, within: &budget)
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
    for name in Self.components(relative) where current >= 0 {
      let above = current
      current = name == Self.above ? -1 : name.withPath { openat(above, $0, flags) }
      if current >= 0 { visit(current) }
      close(above)
    }
    return current < 0 ? nil : PlainFolder(current)
  }

  static let above: [UInt8] = [0x2E, 0x2E]

  /// The components of a path without `.`.
  static func components(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [0x2E] }
  }
}
