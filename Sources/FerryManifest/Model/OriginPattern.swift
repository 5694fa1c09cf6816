/// An origin in a manifest's list: `https://api.example.com`, `https://*.example.com` or
/// `http://localhost:8080`.
package struct OriginPattern: Hashable, Codable, Sendable {
  /// `http` or `https`.
  package var scheme: String
  /// The host in lower case; for a wildcard, the part after `*.`.
  package var host: String
  /// Whether the pattern matches any name below `host`, at any depth, but not `host` itself.
  package var isWildcard: Bool
  package var port: Int

  /// `nil` unless the text consists of a scheme, a host and an optional port.
  package init?(_ text: String) {
    let lowercased = text.lowercased()
    guard let scheme = ["https", "http"].first(where: { lowercased.hasPrefix("\($0)://") }) else {
      return nil
    }
    var rest = Substring(lowercased.dropFirst(scheme.count + 3))
    isWildcard = rest.hasPrefix("*.")
    if isWildcard { rest = rest.dropFirst(2) }
    port = scheme == "https" ? 443 : 80
    if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
      guard let number = Int(rest[rest.index(after: colon)...]), (1...65_535).contains(number),
        rest[rest.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      port = number
      rest = rest[..<colon]
    }
    guard Self.isHost(rest), !isWildcard || rest.contains(".") else { return nil }
    self.scheme = scheme
    host = String(rest)
  }

  /// A name or an IPv4 address, or an IPv6 address in brackets.
  private static func isHost(_ text: Substring) -> Bool {
    if text.hasPrefix("["), text.hasSuffix("]") {
      return text.utf8.count > 4
        && text.utf8.dropFirst().dropLast().allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
    }
    return !text.isEmpty && !text.hasPrefix(".") && !text.hasSuffix(".") && !text.contains("..")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: true
        default: "-._".utf8.contains(byte)
        }
      }
  }

  /// Whether the pattern matches an origin.
  ///
  /// - Parameter host: in lower case.
  package func matches(scheme: String, host: String, port: Int) -> Bool {
    guard scheme == self.scheme, port == self.port else { return false }
    return isWildcard
      ? host.hasSuffix(".\(self.host)") && host.utf8.first != UInt8(ascii: ".") : host == self.host
  }
}

extension OriginPattern: CustomStringConvertible {
  package var description: String {
    let isUsual = port == (scheme == "https" ? 443 : 80)
    return "\(scheme)://\(isWildcard ? "*." : "")\(host)\(isUsual ? "" : ":\(port)")"
  }
}
