import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Traverses the folders of a path, one component at a time.
///
/// In a world-writable folder, any user can create a symbolic link. Linux restricts following such links to
/// links owned by the follower or by the folder's owner, but only if fs.protected_symlinks is 1 (proc(5)),
/// which is not the kernel's default.
package enum FolderPath {
  /// The reason why a folder was not opened.
  package enum Failure: Error {
    /// An error number.
    case system(CInt)
    /// Another user created this link or folder in a world-writable folder.
    case foreign(path: String, owner: uid_t, isLink: Bool)
    /// This file or link in a world-writable folder has other names too. Another user may have created this one.
    case severalNames(path: String)
  }

  /// The accepted entries of a world-writable folder.
  package enum Trust {
    /// Other users' folders are accepted. Other users' links, and all links below such a folder, are rejected.
    /// The opened folder stays the same even if its path is replaced later.
    case foreignFolders
    /// Entries of other users are rejected, because they could be replaced after the check.
    case ownEntries
  }

  /// The link limit of Linux (path_resolution(7)).
  private static let linkLimit = 40

  /// Opens a folder; the caller closes it. The descriptor can be used to open entries below the folder and
  /// to read its status, but not to read the folder.
  ///
  /// - Parameter creating: whether missing folders are created, with the mode that the umask allows.
  package static func descriptor(
    of path: [UInt8], trusting trust: Trust, creating: Bool = false
  ) throws(Failure) -> CInt {
    var names = components(path)
    var current = Descriptor(try start(path))
    var links = 0
    /// The other user who controls the contents of the current folder; `nil` if there is none.
    var stranger: uid_t?
    while let name = names.popLast() {
      let next = open(name, in: current, creating: creating)
      if next >= 0 {
        let opened = Descriptor(next)
        // `..` exists in every folder and was not created by another user.
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
      let (target, link) = try link(name, in: current.number)
      if let owner = foreignOwner(of: link, in: current.status) ?? (stranger == nil ? nil : link.st_uid) {
        throw .foreign(path: text(name, names, of: path), owner: owner, isLink: true)
      }
      guard !mayBeForeignName(of: link, in: current.status) else {
        throw .severalNames(path: text(name, names, of: path))
      }
      links += 1
      guard links <= linkLimit else { throw .system(ELOOP) }
      if target.first == slash { current = Descriptor(try start(target)) }
      names += components(target)
    }
    return current.release()
  }

  /// Checks that the folders of a path that a list or a server has chosen can be used. A link is not followed, so the
  /// folders are beneath the given one.
  ///
  /// - Parameters:
  ///   - relative: without `..`.
  ///   - creating: whether missing folders are created.
  static func check(_ relative: [UInt8], beneath folder: [UInt8], creating: Bool) throws(Failure) {
    var current = Descriptor(try descriptor(of: folder, trusting: .ownEntries, creating: creating))
    var names = components(relative)
    while let name = names.popLast() {
      guard name != above else { throw .system(EINVAL) }
      let next = open(name, in: current, creating: creating)
      guard next >= 0 else { throw .system(errno) }
      let opened = Descriptor(next)
      if let owner = foreignOwner(of: opened.status, in: current.status) {
        throw .foreign(path: text(name, names, of: relative), owner: owner, isLink: false)
      }
      current = opened
    }
  }

  /// The mode in which a file is opened.
  package enum Access {
    /// The file is opened for reading.
    case reading
    /// The file is opened for reading, without waiting for the writer of a FIFO or the holder of a lease.
    case readingAtOnce
    /// The file is opened for appending, without waiting for the reader of a FIFO.
    case appending
    /// The file is opened for reading and writing, without waiting for the holder of a lease.
    case updating
    /// Only the status of the file can be read, which requires no permission on the file.
    case looking

    fileprivate var writes: Bool { self == .appending || self == .updating }

    fileprivate var flags: CInt {
      switch self {
      case .reading: O_RDONLY
      case .readingAtOnce: O_RDONLY | O_NONBLOCK
      case .appending: O_WRONLY | O_APPEND | O_NONBLOCK
      case .updating: O_RDWR | O_NONBLOCK
      case .looking: ferry_o_search
      }
    }
  }

  /// Opens a file of any kind. An entry that another user created in a world-writable folder is neither followed
  /// nor opened, even if entries are replaced in the meantime.
  ///
  /// - Parameter creationMode: the mode with which a missing file is created, restricted by the umask; `nil` if the
  ///   file must exist.
  package static func file(
    _ path: [UInt8], for access: Access, creationMode: mode_t? = nil
  ) throws(Failure) -> CInt {
    var path = path
    var lastCode = ELOOP
    for _ in 0..<linkLimit {
      let slashIndex = path.lastIndex(of: slash)
      let name = slashIndex.map { Array(path[($0 + 1)...]) } ?? path
      guard !name.isEmpty else { throw .system(path.isEmpty ? ENOENT : EISDIR) }
      let above = slashIndex.map { Array(path[...$0]) } ?? [UInt8(ascii: ".")]
      let folder = Descriptor(try descriptor(of: above, trusting: .ownEntries))
      func checkOwner(_ owner: uid_t, isLink: Bool) throws(Failure) {
        guard let owner = foreignOwner(owner, in: folder.status) else { return }
        throw .foreign(path: String(decoding: path, as: UTF8.self), owner: owner, isLink: isLink)
      }
      // The owner is also checked before opening, because opening may block.
      if let owner = folder.status(of: name)?.st_uid { try checkOwner(owner, isLink: false) }
      // An entry of /proc/PID/fd is a magic link: it leads to the open file itself, and its target text is
      // only for display (symlink(7)).
      let follow = folder.isInProc ? 0 : O_NOFOLLOW
      let opened = Self.open(name, in: folder, flags: access.flags | O_CLOEXEC | O_NOCTTY | follow)
      if opened >= 0 {
        let file = Descriptor(opened)
        if let status = file.status, status.st_mode & S_IFMT != S_IFLNK {
          try checkOwner(status.st_uid, isLink: false)
          guard !access.writes || !mayBeForeignName(of: status, in: folder.status) else {
            throw .severalNames(path: String(decoding: path, as: UTF8.self))
          }
          return file.release()
        }
      } else {
        let code = errno
        if code == ENOENT, let creationMode {
          // With O_EXCL, the file that is opened is the one that this call has created, so it cannot belong to another
          // user.
          let flags = access.flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW
          let created = Self.open(name, in: folder, flags: flags, mode: creationMode)
          guard created < 0 else { return created }
          lastCode = errno
          guard lastCode == EEXIST else { throw .system(lastCode) }
          // The entry was created in the meantime. It is checked like any other.
          continue
        }
        guard code == ELOOP else { throw .system(code) }
        lastCode = code
      }
      let (target, link) = try link(name, in: folder.number)
      try checkOwner(link.st_uid, isLink: true)
      guard !mayBeForeignName(of: link, in: folder.status) else {
        throw .severalNames(path: String(decoding: path, as: UTF8.self))
      }
      path = target.first == slash || slashIndex == nil ? target : above + target
    }
    throw .system(lastCode)
  }

  /// - Parameter mode: the mode of a new file, if `flags` contains O_CREAT.
  private static func open(
    _ name: [UInt8], in folder: borrowing Descriptor, flags: CInt, mode: mode_t = 0
  ) -> CInt {
    let number = folder.number
    return name.withPath { name in
      while true {
        let opened = openat(number, name, flags, mode)
        guard opened < 0, errno == EINTR else { return opened }
      }
    }
  }

  /// Returns -1 and sets `errno` if the folder cannot be opened.
  private static func open(_ name: [UInt8], in folder: borrowing Descriptor, creating: Bool) -> CInt {
    let number = folder.number
    // An apparent link in /proc/PID leads to an open folder and only displays its name (proc(5)).
    let follow = folder.isInProc ? 0 : O_NOFOLLOW
    return name.withPath { name in
      let opened = openat(number, name, flags | follow)
      guard opened < 0, errno == ENOENT, creating else { return opened }
      guard mkdirat(number, name, 0o777) == 0 || errno == EEXIST else { return -1 }
      return openat(number, name, flags | O_NOFOLLOW)
    }
  }

  /// The owner of an entry in a world-writable folder, if the owner is neither this user nor the folder's
  /// owner; `nil` if the entry may be used.
  package static func foreignOwner(of entry: stat?, in folder: stat?) -> uid_t? {
    entry.flatMap { foreignOwner($0.st_uid, in: folder) }
  }

  private static func foreignOwner(_ owner: uid_t, in folder: stat?) -> uid_t? {
    guard let folder, folder.st_mode & 0o002 != 0, owner != geteuid(), owner != folder.st_uid else {
      return nil
    }
    return owner
  }

  /// Whether another user may have created this name of a regular file or a symbolic link. Linux prevents hard links to links
  /// of other users, and to files that the user cannot read and write, only if fs.protected_hardlinks is 1 (proc(5)), which
  /// is not the kernel's default.
  static func mayBeForeignName(of entry: stat, in folder: stat?) -> Bool {
    [S_IFREG, S_IFLNK].contains(entry.st_mode & S_IFMT) && entry.st_nlink > 1
      && folder.map { $0.st_mode & 0o002 != 0 } ?? true
  }

  /// The target and the status of a link. Both belong to the same link, even if it is replaced in the
  /// meantime.
  static func link(_ name: [UInt8], in folder: CInt) throws(Failure) -> (target: [UInt8], status: stat) {
    for _ in 0..<tries {
      if let link = try linkOnce(name, in: folder) { return link }
    }
    throw .system(EAGAIN)
  }

  /// A link may be replaced while it is read.
  private static let tries = 64

  /// Returns `nil` if the link was replaced in the meantime.
  private static func linkOnce(
    _ name: [UInt8], in folder: CInt
  ) throws(Failure) -> (target: [UInt8], status: stat)? {
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
      // Only the owner of the link or the folder can restore the same inode.
      guard fstatat(folder, name, &after, AT_SYMLINK_NOFOLLOW) == 0 else { return errno }
      return before.isSameEntry(as: after) ? 0 : EAGAIN
    }
    if code == EAGAIN { return nil }
    guard code == 0 else { throw .system(code) }
    return (target, before)
  }

  // These flags are sufficient to traverse a folder; read permission for it is not needed.
  private static let flags = ferry_o_search | O_DIRECTORY | O_CLOEXEC
  private static let slash = UInt8(ascii: "/")
  private static let above: [UInt8] = [0x2E, 0x2E]

  /// The folder in which a path begins.
  private static func start(_ path: [UInt8]) throws(Failure) -> CInt {
    guard !path.isEmpty, !path.contains(0) else { throw .system(ENOENT) }
    let opened = openat(AT_FDCWD, path.first == slash ? "/" : ".", flags)
    guard opened >= 0 else { throw .system(errno) }
    return opened
  }

  /// The components in reverse order.
  private static func components(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: slash).filter { !$0.elementsEqual([UInt8(ascii: ".")]) }.reversed().map {
      Array($0)
    }
  }

  /// The rejected part of the path, for messages: up to the rejected component if no link was followed
  /// before it, otherwise the whole path.
  private static func text(_ name: [UInt8], _ rest: [[UInt8]], of path: [UInt8]) -> String {
    let all = components(path)
    guard rest.count < all.count, all[rest.count] == name, Array(all[..<rest.count]) == rest else {
      return String(decoding: path, as: UTF8.self)
    }
    let names = all[rest.count...].reversed().joined(separator: [slash])
    return String(decoding: (path.first == slash ? [slash] : []) + names, as: UTF8.self)
  }

  /// Closes the descriptor when it is destroyed.
  private struct Descriptor: ~Copyable {
    let number: CInt

    init(_ number: CInt) { self.number = number }
    deinit { close(number) }

    var status: stat? {
      var status = stat()
      return fstat(number, &status) == 0 ? status : nil
    }

    /// The status of an entry of this folder, without following a link.
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
  /// The reason, for messages that begin with the requested path.
  package var reason: String {
    switch self {
    case .system(let code): SystemText.error(code)
    case .foreign(let path, let owner, let isLink):
      "\(path) \(isLink ? "is a symbolic link of" : "belongs to") user \(owner), in a world-writable folder; "
        + "remove it, or choose a folder that is writable only by you"
    case .severalNames(let path):
      "\(path) is in a world-writable folder and has several hard links; remove it, or choose a folder that is writable only "
        + "by you"
    }
  }
}
