import FerryPlan
import Foundation

/// Paths that are valid in any working directory.
package enum AbsolutePath {
  /// The absolute path, without `.` and empty components.
  ///
  /// If the path contains `..`, its folder is resolved on disk: after a link, `..` is the parent of the
  /// link's target, which the path itself does not show. If that folder does not exist, `..` is kept,
  /// and the system resolves it.
  package static func text(of path: String) -> String {
    let slash = UInt8(ascii: "/")
    var bytes = Array(path.utf8)
    guard bytes.split(separator: slash).contains(where: { $0.elementsEqual("..".utf8) }) else {
      return URL(fileURLWithPath: path).standardizedFileURL.path
    }
    if bytes.first != slash { bytes = Array(FileManager.default.currentDirectoryPath.utf8) + [slash] + bytes }
    while bytes.last == slash { bytes.removeLast() }
    let end = bytes.lastIndex(of: slash) ?? 0
    let name = bytes[(end + 1)...]
    // If the last component is a link, it is not resolved.
    guard !name.elementsEqual("..".utf8) else { return text(bytes[...], "") }
    return text(bytes[..<end], "/" + String(decoding: name, as: UTF8.self))
  }

  /// The absolute path without links. Folders at its end that do not exist are kept as they are.
  static func withoutLinks(_ path: String) -> String {
    let absolute = text(of: path)
    if let real = real(absolute) { return real }
    let (folder, name) = (SplitPath(absolute).folder, SplitPath(absolute).name)
    guard !folder.isEmpty, folder != absolute else { return absolute }
    let above = withoutLinks(folder)
    return above == "/" ? above + name : above + "/" + name
  }

  private static func real(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Appends `name` to a folder, which is resolved if it exists.
  private static func text(_ folder: ArraySlice<UInt8>, _ name: String) -> String {
    guard let real = realpath(folder.map { CChar(bitPattern: $0) } + [0], nil) else {
      return String(decoding: folder, as: UTF8.self) + name
    }
    defer { free(real) }
    let found = String(cString: real)
    return found == "/" && !name.isEmpty ? name : found + name
  }
}
