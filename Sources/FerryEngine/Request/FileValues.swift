/// The values of `${file.…}` for one file.
package struct FileValues: Sendable {
  /// The path relative to the upload's root, as bytes, because a name need not be valid UTF-8.
  package var path: [UInt8]
  /// The size in bytes.
  package var size: Int64
  /// The modification time in nanoseconds since 1970.
  package var modified: Int64
  /// The SHA-256 digest of the file's content in lowercase hexadecimal; `nil` until the digest is known.
  package var sha256: String?

  package init(path: [UInt8], size: Int64, modified: Int64, sha256: String? = nil) {
    self.path = path
    self.size = size
    self.modified = modified
    self.sha256 = sha256
  }

  /// The path's last component.
  var name: ArraySlice<UInt8> {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return path[...] }
    return path[(slash + 1)...]
  }

  /// The name up to its last dot. A leading dot is ignored.
  var stem: ArraySlice<UInt8> { lastDot.map { name[..<$0] } ?? name }

  /// The part after the last dot; empty without a dot.
  var `extension`: ArraySlice<UInt8> { lastDot.map { name[($0 + 1)...] } ?? [] }

  private var lastDot: Int? {
    let name = name
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    return dot
  }
}
