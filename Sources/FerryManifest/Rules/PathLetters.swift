/// A path as bytes, as the system reads it. In a String, a slash followed by a combining mark is a single
/// character and would not be found.
struct PathLetters {
  let text: String

  init(_ text: String) { self.text = text }

  var isAbsolute: Bool { text.utf8.first == Self.slash }
  var isOfHome: Bool { text.utf8.first == UInt8(ascii: "~") }
  var isFolder: Bool { text.utf8.last == Self.slash }
  var parts: [Substring] { text.utf8.split(separator: Self.slash).map(Substring.init) }
  /// The path's folder, including the slash; empty if the path has no folder.
  var folder: Substring { text.utf8.lastIndex(of: Self.slash).map { Substring(text.utf8[...$0]) } ?? "" }

  private static let slash = UInt8(ascii: "/")
}
