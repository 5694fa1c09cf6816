import Foundation

/// The file or folder to which a path leads, and the links that it passes.
///
/// These are absolute paths in the form in which paths are compared (`ItemListReader.key`), without `.`, `..` and repeated
/// slashes. The file need not exist: a missing folder counts as a folder, not as a link.
struct ResolvedPath: Hashable {
  let target: String
  private(set) var links: [String] = []

  /// The number of links that a path can pass (path_resolution(7)).
  private static let mostLinks = 40
  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// - Parameter path: an absolute path. If its last name is a link, it is followed.
  init(_ path: [UInt8]) {
    var names = Self.reversedNames(path)
    var current: [UInt8] = []
    while let name = names.popLast() {
      if name.elementsEqual([Self.dot]) { continue }
      if name.elementsEqual([Self.dot, Self.dot]) {
        current.removeSubrange((current.lastIndex(of: Self.slash) ?? 0)...)
        continue
      }
      let entry = current + [Self.slash] + name
      guard links.count < Self.mostLinks, let destination = Self.destination(ofLink: entry) else {
        current = entry
        continue
      }
      links.append(ItemListReader.key(entry))
      if destination.first == Self.slash { current = [] }
      names += Self.reversedNames(destination)
    }
    target = ItemListReader.key(current)
  }

  /// A path in this folder.
  ///
  /// - Parameter path: without `.`, `..` and repeated slashes. Links in it are not followed.
  func path(of path: some Collection<UInt8>) -> String { "\(target)/\(ItemListReader.key(path))" }

  private static func reversedNames(_ path: [UInt8]) -> [[UInt8]] {
    path.split(separator: slash).reversed().map(Array.init)
  }

  /// The path that a link contains; `nil` if it is not a link.
  private static func destination(ofLink path: [UInt8]) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(FileLister.terminated(path), &buffer, buffer.count)
    return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
  }
}
