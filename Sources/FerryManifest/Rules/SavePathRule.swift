/// The rules for the path to which the items of a list are saved.
enum SavePathRule {
  /// Returns the problem with a path that contains references to a list; `nil` if the values of the list cannot lead
  /// outside a folder that the author names.
  static func problem(_ path: Template) -> Problem? {
    var (start, hasReference, sample) = ("", false, "")
    for segment in path.segments {
      switch segment {
      case .literal(let text), .value(let text):
        sample += text
        if !hasReference { start += text }
      case .reference:
        sample += "x"
        hasReference = true
      }
    }
    if let problem = PathRule.problem(sample, inside: "the manifest's folder") { return problem }
    guard hasReference else {
      return Problem(
        .invalidPath, "every item of the list would be saved to the same file",
        help: "refer to the list, for example with 'save_to: \"downloads/${item.name}\"'")
    }
    // Otherwise, a list could name any file in the manifest's folder, such as the manifest itself.
    guard PathLetters(String(PathLetters(start).folder)).parts.contains(where: { $0 != "." }) else {
      return Problem(
        .invalidPath,
        "this path does not begin with a folder, so the list could replace any file next to the manifest",
        help: "put a folder before the first reference, for example 'downloads/${item.name}'")
    }
    guard !PathLetters(sample).isFolder else {
      return Problem(.invalidPath, "this path refers to a folder", help: "specify a file")
    }
    return nil
  }
}
