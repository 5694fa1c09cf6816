/// Reads a manifest's includes. The module itself does not access the disk.
package struct ManifestFiles: Sendable {
  /// Why a file could not be read, in the system's words.
  package struct Unreadable: Error, Sendable {
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
  }

  /// Distinguishes files, however they are named.
  package enum Identity: Hashable, Sendable {
    /// For a file of which only the path is known.
    case path(String)
    /// For a file on disk, or a pipe.
    case inode(device: UInt64, number: UInt64)
  }

  /// Reads the file at a path. The path is given like the manifest's path, or is relative to the same folder.
  package let read: @Sendable (_ path: String) throws(Unreadable) -> [UInt8]

  /// The identity of the file at such a path. The file need not exist.
  package let identity: @Sendable (_ path: String) -> Identity

  /// Files with exactly one path each.
  package init(read: @escaping @Sendable (_ path: String) throws(Unreadable) -> [UInt8]) {
    self.init(read: read, identity: Identity.path)
  }

  package init(
    read: @escaping @Sendable (_ path: String) throws(Unreadable) -> [UInt8],
    identity: @escaping @Sendable (_ path: String) -> Identity
  ) {
    self.read = read
    self.identity = identity
  }

  /// For a manifest without includes.
  package static let none = ManifestFiles { _ throws(Unreadable) in
    throw Unreadable("there are no files here")
  }

  /// The path that a file names, relative to the same folder as the file's own path, without `.` and `x/..`.
  static func path(_ path: String, from file: String) -> String {
    let letters = PathLetters(path)
    let whole = PathLetters(
      letters.isAbsolute || letters.isOfHome ? path : PathLetters(file).folder + path)
    var parts: [Substring] = []
    for part in whole.parts where part != "." {
      if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
    }
    return (whole.isAbsolute ? "/" : "") + parts.joined(separator: "/")
  }
}
