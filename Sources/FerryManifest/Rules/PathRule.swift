/// The rules for a path that must stay inside a folder.
enum PathRule {
  /// Returns the problem with a path; `nil` if the path stays inside the folder.
  ///
  /// - Parameter folder: describes the folder in a message.
  static func problem(_ path: String, inside folder: String) -> Problem? {
    let path = PathLetters(path)
    if path.isAbsolute || path.isOfHome {
      return Problem(.invalidPath, "this path must be relative", help: "specify a path below \(folder)")
    }
    if path.parts.contains("..") {
      return Problem(
        .invalidPath, "this path leaves its folder with '..'", help: "specify a path below \(folder)")
    }
    return nil
  }
}
