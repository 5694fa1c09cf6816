import FerryDigest
import FerryPlan

/// The parts of a URL or relative reference, with percent-encoding unchanged (RFC 3986 appendix B).
struct URLReference {
  var scheme: String?
  var authority: String?
  var path: String
  var query: String?
  var fragment: String?

  init(_ text: String) {
    // Split by bytes, as clients do: a delimiter followed by a combining mark is still a delimiter.
    var rest = text.utf8[...]
    func take(_ part: Substring.UTF8View) -> String { String(Substring(part)) }
    if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
      fragment = take(rest[rest.index(after: hash)...])
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = take(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
      scheme = take(rest[..<colon])
      rest = rest[rest.index(after: colon)...]
    }
    if rest.starts(with: "//".utf8) {
      let host = rest.dropFirst(2)
      let slash = host.firstIndex(of: UInt8(ascii: "/")) ?? host.endIndex
      authority = take(host[..<slash])
      rest = host[slash...]
    }
    path = take(rest)
  }

  /// Whether this is an absolute http or https URL.
  var isHTTP: Bool {
    guard authority != nil, let scheme = scheme?.lowercased() else { return false }
    return scheme == "http" || scheme == "https"
  }

  /// Removes the user name and password; returns whether the URL contained any.
  @discardableResult
  mutating func removeUserinfo() -> Bool {
    guard let host = authority, let at = host.unicodeScalars.lastIndex(of: "@") else { return false }
    authority = String(host.unicodeScalars[host.unicodeScalars.index(after: at)...])
    return true
  }

  /// Resolves the reference against a base URL (RFC 3986 §5.2.2).
  func resolved(against base: URLReference) -> URLReference {
    var target = self
    if scheme != nil { return target }
    target.scheme = base.scheme
    if authority != nil { return target }
    target.authority = base.authority
    if path.isEmpty {
      target.path = base.path
      if query == nil { target.query = base.query }
    } else if path.utf8.first == UInt8(ascii: "/") {
      target.path = Self.withoutDots(path)
    } else if base.authority != nil, base.path.isEmpty {
      target.path = Self.withoutDots("/" + path)
    } else {
      let folder = base.path.unicodeScalars.lastIndex(of: "/").map { base.path[...$0] } ?? ""
      target.path = Self.withoutDots(folder + path)
    }
    return target
  }

  /// The absolute URL in its normal form (RFC 3986 §6.2.2 and §6.2.3), without its fragment, for comparisons. A server
  /// may treat two URLs with the same normal form as the same resource. An empty query counts as none.
  var normalized: URLReference {
    var url = self
    url.scheme = scheme?.lowercased()
    url.authority = authority?.lowercased()
    // Decode first: `%2e%2e` is a dot segment.
    url.path = Self.withoutDots(Self.decodingUnreserved(path))
    if url.path.isEmpty { url.path = "/" }
    url.query = query.flatMap { $0.isEmpty ? nil : Self.decodingUnreserved($0) }
    url.fragment = nil
    return url
  }

  /// The absolute URL in its normal form, without its username and password. Two URLs with the same text refer to the same
  /// resource.
  var resource: String {
    let url = normalized
    let server = Origin(url: url.description)?.description ?? "\(url.scheme ?? "")://\(url.authority ?? "")"
    return server + url.path + (url.query.map { "?" + $0 } ?? "")
  }

  /// Decodes percent-encoded unreserved characters, and converts the digits of other percent-encoding to uppercase.
  private static func decodingUnreserved(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = Hexadecimal.value(bytes[index + 1]), let low = Hexadecimal.value(bytes[index + 2])
      else {
        decoded.append(bytes[index])
        index += 1
        continue
      }
      let byte = high << 4 | low
      if PercentEncoding.isUnreserved(byte) {
        decoded.append(byte)
      } else {
        decoded += [UInt8(ascii: "%"), Hexadecimal.digit(high), Hexadecimal.digit(low)]
      }
      index += 3
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  /// Removes dot segments (RFC 3986 §5.2.4) from a path with or without a leading slash.
  private static func withoutDots(_ path: String) -> String {
    var kept: [Substring] = []
    let parts = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(
      Substring.init)
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch part {
      case ".": if isLast { kept.append("") }
      case "..":
        // The first part is the empty one before the leading slash.
        if kept.count > 1 { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(part)
      }
    }
    return kept.joined(separator: "/")
  }

  /// Whether the text is a valid scheme (RFC 3986 §3.1).
  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, (0x61...0x7A).contains(first | 0x20) else { return false }
    return text.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "+-.".utf8.contains(byte)
      }
    }
  }
}

extension URLReference: CustomStringConvertible {
  var description: String {
    (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path
      + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
  }
}
