/// The rules for the part of a URL that the author writes.
enum URLRule {
  /// The value never appears in the message, because it may come from the environment.
  static func problem(_ url: Template) -> Problem? {
    guard !url.segments.isEmpty else {
      return Problem(.invalidURL, "this URL is empty", help: "write a URL that begins with https://")
    }
    for segment in url.segments {
      guard case .literal(let text) = segment else { continue }
      if text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
        return Problem(
          .invalidURL, "a URL cannot contain a space or control character", help: "write %20 for a space")
      }
    }
    var prefix = ""
    var isWhole = true
    for segment in url.segments {
      guard case .reference = segment else {
        if case .literal(let text) = segment { prefix += text }
        if case .value(let text) = segment { prefix += text }
        continue
      }
      isWhole = false
      break
    }
    // A reference at the very beginning is checked as a URL when its value is known.
    guard !prefix.isEmpty || isWhole else { return nil }
    guard let scheme = ["https://", "http://"].first(where: { prefix.lowercased().hasPrefix($0) }) else {
      return Problem(
        .invalidURL, "a URL must begin with http:// or https://",
        help: prefix.contains("://")
          ? "ferry supports only HTTP; write the server's HTTP URL" : "put 'https://' before it")
    }
    let rest = prefix.dropFirst(scheme.count)
    if rest.isEmpty ? isWhole : "/?#:".contains(rest.first ?? "/") {
      return Problem(.invalidURL, "this URL has no host", help: "write the host after \(scheme)")
    }
    return nil
  }
}
