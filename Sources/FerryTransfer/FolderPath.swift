import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The folders that a path leads through, followed name by name.
///
/// In a folder that everyone may write to, any user can put a symbolic link. Linux follows such a link only for its
/// owner and the folder's, but only where fs.protected_symlinks is 1 (proc(5)), which is not the kernel's default.
package enum FolderPath {
  /// Why a folder was not opened.
  package enum Failure: Error {
    /// An error number.
    case system(CInt)
    /// Another user has put this link or folder there, in a folder that everyone may write to.
    case foreign(path: String, owner: uid_t, isLink: Bool)
  }

  /// What may lie in a folder that everyone may write to.
  package enum Trust {
    /// Folders of other users, but no links, nor any link below such a folder: what is opened stays the same folder,
    /// whatever is exchanged later.
    case foreignFolders
    /// Nothing of other users: they could exchange it after this look.
    case ownEntries
  }

  /// As many links as Linux follows (path_resolution(7)).
  private static let linkLimit = 40

  /// Opens a folder, to be closed by the caller. It can be passed through and asked for its status, not read.
  ///
  /// - Parameter creating: makes the folders that are missing, with the mode that the umask leaves.
  package static func descriptor(
    of path: [UInt8], trusting trust: Trust, creating: Bool = false
  ) throws(Failure) -> CInt {
    var names = components(path)
    var current = Descriptor(try start(path))
    var links = 0
    /// The user who chooses what lies below the current folder.
    var stranger: uid_t?
    while let name = names.popLast() {
      let next = open(name, in: current, creating: creating)
      if next >= 0 {
        let opened = Descriptor(next)
        // Nobody has put `..` there.
        if name != above, let owner = foreignOwner(of: opened.status, in: current.status) {
          stranger = owner
          guard trust == .foreignFolders else {
            throw .foreign(path: text(name, names, of: path), owner: owner, isLink: false)
          }
        }
        current = opened
        continue
      }
      let code = errno
      guard code == ELOOP || code == ENOTDIR else { throw .system(code) }
      let (target, owner) = try link(name, in: current.number)
      if let owner = foreignOwner(owner, in: current.status) ?? (stranger == nil ? nil : owner) {
        throw .foreign(path: text(name, names, of: path), owner: owner, isLink: true)
      }
      links += 1
      guard links <= linkLimit else { throw .system(ELOOP) }
      if target.first == slash { current = Descriptor(try start(target)) }
      names += components(target)
    }
    return current.release()
  }

  /// How a file is opened.
  package enum Access {
    /// For reading.
    case reading
    /// For reading, without waiting for the writer of a FIFO or the holder of a lease.
    case readingAtOnce
    /// For writing at its end, without waiting for the reader of a FIFO.
    case appending
    /// Only to look at it, for which no right to the file is needed.
    case looking

    fileprivate var flags: CInt {
      switch self {
      case .reading: O_RDONLY
      case .readingAtOnce: O_RDONLY | O_NONBLOCK
      case .appending: O_WRONLY | O_APPEND | O_NONBLOCK
      case .looking: ferry_o_search
      }
    }
  }

  /// Opens a file of any kind that is there. Nothing that another user has put into a folder that everyone may write to
  /// is followed or opened, whatever is exchanged meanwhile.
  package static func file(_ path: [UInt8], for access: Access) throws(Failure) -> CInt {
    var path = path
    for _ in 0..<linkLimit {
      let slashIndex = path.lastIndex(of: slash)
      let name = slashIndex.map { Array(path[($0 + 1)...]) } ?? path
      let above = slashIndex.map { Array(path[...$0]) } ?? [UInt8(ascii: ".")]
      let folder = Descriptor(try descriptor(of: above, trusting: .ownEntries))
      func checkOwner(_ owner: uid_t, isLink: Bool) throws(Failure) {
        guard let owner = foreignOwner(owner, in: folder.status) else { return }
        throw .foreign(path: String(decoding: path, as: UTF8.self), owner: owner, isLink: isLink)
      }
      // Before it is opened, too: that may wait.
      if let owner = folder.status(of: name)?.st_uid { try checkOwner(owner, isLink: false) }
      // What looks like a link in /proc/PID/fd leads to an open file, whose name it only shows (proc(5)).
      let follow = folder.isInProc ? 0 : O_NOFOLLOW
      let opened = Self.open(name, in: folder, flags: access.flags | O_CLOEXEC | O_NOCTTY | follow)
      if opened >= 0 {
        let file = Descriptor(opened)
        if let status = file.status, status.st_mode & S_IFMT != S_IFLNK {
          try checkOwner(status.st_uid, isLink: false)
          return file.release()
        }
      } else if errno != ELOOP {
        throw .system(errno)
      }
      let (target, owner) = try link(name, in: folder.number)
      try checkOwner(owner, isLink: true)
      path = target.first == slash || slashIndex == nil ? target : above + target
    }
    throw .system(ELOOP)
  }

  private static func open(_ name: [UInt8], in folder: borrowing Descriptor, flags: CInt) -> CInt {
    let number = folder.number
    return name.withPath { name in
      while true {
        let opened = openat(number, name, flags)
        guard opened < 0, errno == EINTR else { return opened }
      }
    }
  }

  /// -1, with `errno`, where it cannot be opened.
  private static func open(_ name: [UInt8], in folder: borrowing Descriptor, creating: Bool) -> CInt {
    let number = folder.number
    // What looks like a link in /proc/PID leads to an open folder, whose name it only shows (proc(5)).
    let follow = folder.isInProc ? 0 : O_NOFOLLOW
    return name.withPath { name in
      let opened = openat(number, name, flags | follow)
      guard opened < 0, errno == ENOENT, creating else { return opened }
      guard mkdirat(number, name, 0o777) == 0 || errno == EEXIST else { return -1 }
      return openat(number, name, flags | O_NOFOLLOW)
    }
  }

  /// The user that has put an entry into a folder that everyone may write to, and who is neither this user nor the
  /// folder's owner; `nil` where the entry may be used.
  package static func foreignOwner(of entry: stat?, in folder: stat?) -> uid_t? {
    entry.flatMap { foreignOwner($0.st_uid, in: folder) }
  }

  private static func foreignOwner(_ owner: uid_t, in folder: stat?) -> uid_t? {
    guard let folder, folder.st_mode & 0o002 != 0, owner != geteuid(), owner != folder.st_uid else {
      return nil
    }
    return owner
  }

  /// Where a link leads, and whose it is: both of the same link, also where another is put in its place meanwhile.
  static func link(_ name: [UInt8], in folder: CInt) throws(Failure) -> (target: [UInt8], owner: uid_t) {
    for _ in 0..<tries {
      if let link = try linkOnce(name, in: folder) { return link }
    }
    throw .system(EAGAIN)
  }

  /// A link may be replaced while it is read.
  private static let tries = 64

  /// `nil` if the link was replaced meanwhile.
  private static func linkOnce(
    _ name: [UInt8], in folder: CInt
  ) throws(Failure) -> (target: [UInt8], owner: uid_t)? {
    var before = stat()
    var after = stat()
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let code = name.withPath { name -> CInt in
      guard fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0 else { return errno }
      guard before.st_mode & S_IFMT == S_IFLNK else { return ENOTDIR }
      let count = target.withUnsafeMutableBytes { buffer in
        buffer.withMemoryRebound(to: CChar.self) { characters in
          characters.baseAddress.map { readlinkat(folder, name, $0, characters.count) } ?? 0
        }
      }
      guard count > 0 else { return count < 0 ? errno : ENOENT }
      guard count < target.count else { return ENAMETOOLONG }
      target.removeSubrange(count...)
      // Nobody but its owner or the folder's can put the same inode back.
      guard fstatat(folder, name, &after, AT_SYMLINK_NOFOLLOW) == 0 else { return errno }
      return before.isSameEntry(as: after) ? 0 : EAGAIN
    }
    if code == EAGAIN { return nil }
    guard code == 0 else { throw .system(code) }
    return (target, before.st_uid)
  }

  // Enough to pass through a folder, which its owner need not let us read.
  private static let flags = ferry_o_search | O_DIRECTORY | O_CLOEXEC
  private static let slash = UInt8(ascii: "/")
  private static let above: [UInt8] = [0x2E, 0x2E]

  /// The folder that a path begins in.
  private static func start(_ path: [UInt8]) throws(Failure) -> CInt {
    guard !path.isEmpty, !path.contains(0) else { throw .system(ENOENT) }
    let opened = openat(AT_FDCWD, path.first == slash ? "/" : ".", flags)
    guard opened >= 0 else { throw .system(errno) }
    return opened
  }

  /// The last first.
  private static func components(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: slash).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }.reversed().map {
      Array($0)
    }
  }

  /// The part of the path that was refused, for people: up to the name where no link was followed before it, and
  /// otherwise the whole path.
  private static func text(_ name: [UInt8], _ rest: [[UInt8]], of path: [UInt8]) -> String {
    let all = components(path)
    guard rest.count < all.count, all[rest.count] == name, Array(all[..<rest.count]) == rest else {
      return String(decoding: path, as: UTF8.self)
    }
    let names = all[rest.count...].reversed().joined(separator: [slash])
    return String(decoding: (path.first == slash ? [slash] : []) + names, as: UTF8.self)
  }

  /// Closes what it holds.
  private struct Descriptor: ~Copyable {
    let number: CInt

    init(_ number: CInt) { self.number = number }
    deinit { close(number) }

    var status: stat? {
      var status = stat()
      return fstat(number, &status) == 0 ? status : nil
    }

    /// Of an entry of this folder, without following a link.
    func status(of name: [UInt8]) -> stat? {
      var status = stat()
      let number = number
      return name.withPath { fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
    }

    var isInProc: Bool { ferry_is_in_proc(number) != 0 }

    consuming func release() -> CInt {
      let number = number
      discard self
      return number
    }
  }
}

extension FolderPath.Failure {
  /// For people, after the path that was to be used.
  package var reason: String {
    switch self {
    case .system(let code): SystemText.error(code)
    case .foreign(let path, let owner, let isLink):
      "\(path) \(isLink ? "is a symbolic link of" : "belongs to") user \(owner), in a folder that everyone may write to; "
        + "remove it, or choose a folder that only you can write to"
    }
  }
}
