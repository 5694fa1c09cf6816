/// Reads a manifest's includes for this module, which does not access the disk itself.
package struct ManifestFiles: Sendable {
  /// The system's reason why a file could not be read.
  package struct Unreadable: Error, Sendable {
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
  }

  /// Identifies a file regardless of the path used to name it.
  package enum Identity: Hashable, Sendable {
    /// A file that is known only by its path.
    case path(String)
    /// A file on disk, or a pipe.
    case inode(device: UInt64, number: UInt64)
  }

  /// Reads the file at a path. The path is given like the manifest's path, or is relative to the same folder.
  package let read: @Sendable (_ path: String) throws(Unreadable) -> [UInt8]

  /// The identity of the file at a path. The file need not exist.
  package let identity: @Sendable (_ path: String) -> Identity

  /// Reads files that are identified by their paths. Each file must have exactly one path.
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

  /// Rejects every include, for a manifest without includes.
  package static let none = ManifestFiles { _ throws(Unreadable) in
    throw Unreadable("this manifest cannot include files")
  }

  /// The path written in a file, relative to the same folder as the file's own path, without `.` and `x/..`.
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
