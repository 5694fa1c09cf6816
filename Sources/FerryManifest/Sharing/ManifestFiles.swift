/// How a manifest's includes are read; the manifest's own code touches no disk.
package struct ManifestFiles: Sendable {
  /// Why a file could not be read, in the system's words.
  package struct Unreadable: Error, Sendable {
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
  }

  /// What tells two files apart, however they are named.
  package enum Identity: Hashable, Sendable {
    /// Of a file of which no more is known than its path.
    case path(String)
    /// Of a file on a disk, or a pipe.
    case inode(device: UInt64, number: UInt64)
  }

  /// Reads the file at a path: as the user gave the manifest's, or relative to the same folder as that one.
  package let read: @Sendable (_ path: String) throws(Unreadable) -> [UInt8]

  /// The identity of the file at such a path; it may be that there is none.
  package let identity: @Sendable (_ path: String) -> Identity

  /// Files that have one path each.
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

  /// For a manifest that stands alone.
  package static let none = ManifestFiles { _ throws(Unreadable) in
    throw Unreadable("there are no files here")
  }

  /// A path that a file names, seen from where that file's own path is seen from, without `.` and `x/..`.
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
