/// The parts of a URL (RFC 3986 §3) that could be secret.
extension WrittenText {
  func text(_ range: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: letters[range])
    return String(text)
  }

  /// The password in `scheme://user:password@host`; nil if it is empty.
  var passwordOfURL: Range<Int>? {
    guard let colon = letters.firstIndex(of: ":"), letters[colon...].starts(with: "://".unicodeScalars) else {
      return nil
    }
    let start = colon + 3
    let end = letters[start...].firstIndex { "/?#".unicodeScalars.contains($0) } ?? letters.endIndex
    guard let at = letters[start..<end].lastIndex(of: "@"),
      let mark = letters[start..<at].firstIndex(of: ":"), mark + 1 < at
    else { return nil }
    return mark + 1..<at
  }

  /// The names and values of the URL's query parameters.
  var parametersOfURL: [(name: String, value: Range<Int>)] {
    guard let mark = letters.firstIndex(of: "?") else { return [] }
    let end = letters[mark...].firstIndex(of: "#") ?? letters.endIndex
    return pairs(in: mark + 1..<end, separator: "&")
  }

  /// The names and values of a `Cookie` field (RFC 6265 §4.2).
  var cookies: [(name: String, value: Range<Int>)] { pairs(in: letters.indices, separator: ";") }

  /// Parts without `=` are omitted.
  private func pairs(in range: Range<Int>, separator: Unicode.Scalar) -> [(name: String, value: Range<Int>)] {
    letters[range].split(separator: separator).compactMap { part in
      let part = part.drop { $0 == " " }
      guard let equals = part.firstIndex(of: "=") else { return nil }
      return (text(part.startIndex..<equals), equals + 1..<part.endIndex)
    }
  }
}
