/// A path split at its last slash, byte by byte.
///
/// As characters, a slash and a combining mark at the beginning of the next name form a single character
/// that is not a slash. Therefore, Foundation and the collection methods of `String` split such a path at
/// different positions than the system does.
package struct SplitPath: Hashable, Sendable {
  private static let slash = UInt8(ascii: "/")

  /// The path up to and including its last slash; empty if the path has no slash.
  package let start: String
  /// The part after the last slash.
  package let name: String

  package init(_ path: String) {
    let bytes = path.utf8
    let end = bytes.lastIndex(of: Self.slash).map { bytes.index(after: $0) } ?? bytes.startIndex
    // In UTF-8, no other character contains the byte of a slash, so both parts are valid.
    start = String(decoding: bytes[..<end], as: UTF8.self)
    name = String(decoding: bytes[end...], as: UTF8.self)
  }

  /// The folder without a trailing slash; `/` for a name in the root, empty if the path has no slash.
  package var folder: String {
    var folder = Substring(start).utf8
    while folder.count > 1, folder.last == Self.slash { folder.removeLast() }
    return String(decoding: folder, as: UTF8.self)
  }

  /// The components of a path, without empty ones.
  package static func names(of path: String) -> [String] {
    path.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
  }
}
