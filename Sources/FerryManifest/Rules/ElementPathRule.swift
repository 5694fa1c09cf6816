/// The syntax of the path of an XML element: `InitiateMultipartUploadResult/UploadId`.
enum ElementPathRule {
  /// The maximum number of names. The reader of responses accepts at most as many levels.
  static let longest = 256

  static func problem(_ path: String) -> Problem? {
    let names = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    guard !names.contains(where: \.isEmpty) else {
      let rest = names.filter { !$0.isEmpty }.map { String($0) }.joined(separator: "/")
      return Problem(
        .invalidElementPath, "an element path consists of names with one '/' between them",
        help: rest.isEmpty
          ? "write the names of the elements from the root, such as 'Result/Id'"
          : "write \(rest.quoted) if its first name is the root element; otherwise, add the elements above it",
        showsValue: true)
    }
    guard names.count <= longest else {
      return Problem(
        .invalidElementPath, "this element path has \(names.count) names",
        help: "write at most \(longest) names")
    }
    for name in names where !isName(name) {
      if let prefix = name.lastIndex(of: ":"), isName(name[name.index(after: prefix)...]) {
        let local = String(name[name.index(after: prefix)...])
        return Problem(
          .invalidElementPath, "an element path has no namespace prefixes, found \(String(name).quoted)",
          help: "write \(local.quoted); namespaces are ignored", showsValue: true)
      }
      return Problem(
        .invalidElementPath, "\(String(name).quoted) is not the name of an XML element",
        help:
          "write names only, such as 'Result/Id'; XPath is not supported, but 'regex' can capture any text",
        showsValue: true)
    }
    return nil
  }

  /// Whether a string is a name without a colon (Namespaces in XML 1.0 §3). Non-ASCII characters that XML
  /// excludes are accepted, but a name with such a character matches no element.
  private static func isName(_ name: Substring.UnicodeScalarView) -> Bool {
    guard let first = name.first, isNameStart(first) else { return false }
    return name.allSatisfy { isNameStart($0) || "0"..."9" ~= $0 || $0 == "-" || $0 == "." }
  }

  private static func isNameStart(_ letter: Unicode.Scalar) -> Bool {
    switch letter {
    case "a"..."z", "A"..."Z", "_": true
    default: !letter.isASCII && !letter.properties.isWhitespace
    }
  }
}
