import FerryPlan
import Foundation

/// Paths that are valid in any working directory.
package enum AbsolutePath {
  /// The absolute path, without `.` and empty components.
  ///
  /// If the path contains `..`, the path up to the last `..` is resolved on disk: after a link, `..` is the parent of the
  /// link's target, which the path itself does not show. If that folder does not exist, `..` is kept, and the system
  /// resolves it.
  package static func text(of path: String) -> String {
    guard SplitPath.names(of: path).contains("..") else {
      return URL(fileURLWithPath: path).standardizedFileURL.path
    }
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    let names = SplitPath.names(of: isAbsolute ? path : FileManager.default.currentDirectoryPath + "/" + path)
      .filter { $0 != "." }
    let end = names.lastIndex(of: "..").map { $0 + 1 } ?? 0
    let folder = "/" + names[..<end].joined(separator: "/")
    let rest = names[end...].joined(separator: "/")
    let found = real(folder) ?? folder
    return rest.isEmpty ? found : found == "/" ? "/" + rest : found + "/" + rest
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
}
