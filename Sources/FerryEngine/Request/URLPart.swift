/// The parts of a URL (RFC 3986 §3) after its scheme, as far as values are inserted into them.
enum URLPart {
  case authority, path, query, fragment

  /// The part that continues at the end of an unfinished URL.
  static func end(of url: [UInt8]) -> URLPart {
    if url.contains(UInt8(ascii: "#")) { return .fragment }
    if url.contains(UInt8(ascii: "?")) { return .query }
    guard let slash = url.firstIndex(of: UInt8(ascii: "/")), slash + 1 < url.count,
      url[slash + 1] == UInt8(ascii: "/"), slash == 0 || url[slash - 1] == UInt8(ascii: ":")
    else { return .path }
    return url[(slash + 2)...].contains(UInt8(ascii: "/")) ? .path : .authority
  }

  /// Whether a byte may occur in a host name, an address or a port. Other bytes would end the host or turn it into a
  /// user name.
  static func isHostLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~:[]".utf8.contains(byte)
    }
  }

  /// Whether a path segment that contains bytes of `range` is `.` or `..`. Clients and servers would resolve it,
  /// percent-encoded or not.
  static func hasDotSegment(_ url: [UInt8], touching range: Range<Int>) -> Bool {
    let slash = UInt8(ascii: "/")
    let start = url[..<range.lowerBound].lastIndex(of: slash).map { $0 + 1 } ?? 0
    let end =
      url[range.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? url.count
    return url[start..<end].split(separator: slash).contains { segment in
      let text = String(decoding: segment, as: UTF8.self).lowercased()
      var dots = 0
      var rest = Substring(text)
      while !rest.isEmpty {
        if rest.hasPrefix(".") {
          rest = rest.dropFirst()
        } else if rest.hasPrefix("%2e") {
          rest = rest.dropFirst(3)
        } else {
          return false
        }
        dots += 1
      }
      return dots == 1 || dots == 2
    }
  }
}
