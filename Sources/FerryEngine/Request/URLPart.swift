/// The parts of a URL (RFC 3986 §3) after its scheme, in which values can be inserted.
enum URLPart {
  case authority, path, query, fragment

  /// The part that is being written at the end of an unfinished URL.
  static func end(of url: [UInt8]) -> URLPart {
    if url.contains(UInt8(ascii: "#")) { return .fragment }
    if url.contains(UInt8(ascii: "?")) { return .query }
    guard let slash = url.firstIndex(of: UInt8(ascii: "/")), slash + 1 < url.count,
      url[slash + 1] == UInt8(ascii: "/"), slash == 0 || url[slash - 1] == UInt8(ascii: ":")
    else { return .path }
    return url[(slash + 2)...].contains(UInt8(ascii: "/")) ? .path : .authority
  }

  /// Whether a byte may occur in a host name, an address or a port. Any other byte would end the host or
  /// turn it into a user name.
  static func isHostLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._~:[]".utf8.contains(byte)
    }
  }

  /// The authority of an absolute http or https URL; empty if the URL has no host. `nil` for any other text.
  static func authority(of url: String) -> Substring? {
    var url = url
    guard let range = url.withUTF8(authority) else { return nil }
    let start = url.utf8.index(url.startIndex, offsetBy: range.lowerBound)
    return Substring(url.utf8[start..<url.utf8.index(start, offsetBy: range.count)])
  }

  /// Like `authority(of:)` for a string. A URL is checked for each request, and reading a contiguous buffer is
  /// several times faster than iterating over the `utf8` of a `String`.
  private static func authority(of url: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    guard let colon = url.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = url[..<colon]
    guard scheme.count == 4 || scheme.count == 5 && scheme[4] | 0x20 == UInt8(ascii: "s"),
      scheme[0] | 0x20 == UInt8(ascii: "h"), scheme[1] | 0x20 == UInt8(ascii: "t"),
      scheme[2] | 0x20 == UInt8(ascii: "t"), scheme[3] | 0x20 == UInt8(ascii: "p")
    else { return nil }
    let start = colon + 3
    guard start <= url.count, url[colon + 1] == slash, url[colon + 2] == slash else { return 0..<0 }
    let end = url[start...].firstIndex { isEndOfAuthority($0) } ?? url.count
    return start < url.count && url[start] == UInt8(ascii: ":") ? 0..<0 : start..<end
  }

  private static func isEndOfAuthority(_ byte: UInt8) -> Bool {
    byte == slash || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  /// Whether a path segment that contains bytes of `range` is `.` or `..`. Clients and servers would resolve it,
  /// percent-encoded or not.
  static func hasDotSegment(_ url: [UInt8], touching range: Range<Int>) -> Bool {
    let segments = segments(of: url, touching: range)
    var index = segments.lowerBound
    // The number of dots at the beginning of the segment; `nil` if the segment contains anything else.
    var dots: Int? = 0
    while index < segments.upperBound {
      let byte = url[index]
      index += 1
      if byte == slash {
        if dots == 1 || dots == 2 { return true }
        dots = 0
      } else if let known = dots {
        if byte == UInt8(ascii: ".") {
          dots = known + 1
        } else if byte == UInt8(ascii: "%"), index + 1 < segments.upperBound, url[index] == UInt8(ascii: "2"),
          url[index + 1] | 0x20 == UInt8(ascii: "e")
        {
          dots = known + 1
          index += 2
        } else {
          dots = nil
        }
      }
    }
    return dots == 1 || dots == 2
  }

  /// Whether the value at `range` is empty and is the whole path segment. The request would then be for the
  /// parent collection instead of one of its members.
  static func isEmptySegment(_ url: [UInt8], _ range: Range<Int>) -> Bool {
    range.isEmpty && segments(of: url, touching: range).isEmpty
  }

  private static let slash = UInt8(ascii: "/")

  /// The path segments that contain bytes of `range`.
  private static func segments(of url: [UInt8], touching range: Range<Int>) -> Range<Int> {
    let start = url[..<range.lowerBound].lastIndex(of: slash).map { $0 + 1 } ?? 0
    let end = url[range.upperBound...].firstIndex(where: isEndOfAuthority) ?? url.count
    return start..<end
  }
}
