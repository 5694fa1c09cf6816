/// How a manifest's includes are read; the manifest's own code touches no disk.
package struct ManifestFiles: Sendable {
  /// Why a file could not be read, in the system's words.
  package struct Unreadable: Error, Sendable {
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
  }

  /// Reads the file at a path: as the user gave the manifest's, or relative to the same folder as that one.
  package let read: @Sendable (_ path: String) throws(Unreadable) -> [UInt8]

  package init(read: @escaping @Sendable (_ path: String) throws(Unreadable) -> [UInt8]) { self.read = read }

  /// For a manifest that stands alone.
  package static let none = ManifestFiles { _ throws(Unreadable) in
    throw Unreadable("there are no files here")
  }

  /// A path that a file names, seen from where that file's own path is seen from, without `.` and `x/..`.
  static func path(_ path: String, from file: String) -> String {
    let isAbsolute = path.hasPrefix("/") || path.hasPrefix("~")
    let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
    let whole = isAbsolute ? path : folder + path
    var parts: [Substring] = []
    for part in whole.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
    }
    return (whole.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }
}
