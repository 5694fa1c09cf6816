/// What a path that must stay in a folder may look like.
enum PathRule {
  /// - Parameter folder: in the words of a message.
  static func problem(_ path: String, inside folder: String) -> Problem? {
    let path = PathLetters(path)
    if path.isAbsolute || path.isOfHome {
      return Problem(.invalidPath, "this path must be relative", help: "name a place below \(folder)")
    }
    if path.parts.contains("..") {
      return Problem(
        .invalidPath, "this path leads out of its folder with '..'", help: "name a place below \(folder)")
    }
    return nil
  }
}
