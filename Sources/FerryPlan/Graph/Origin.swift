import FerryManifest

/// Scheme, host and port (RFC 6454), in canonical form.
package struct Origin: Hashable, Codable, Sendable {
  package var scheme: String
  package var host: String
  package var port: Int

  package init(scheme: String, host: String, port: Int) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// The origin of an absolute http or https URL; `nil` for any other text, and for a host that is not in
  /// its canonical form.
  ///
  /// The URL is parsed by bytes, as host names are: a combining mark does not turn a preceding `/` into
  /// another character.
  package init?(url: some StringProtocol) {
    let url = Array(url.utf8)
    guard let authority = Self.authority(of: url) else { return nil }
    let scheme = String(decoding: url[..<(authority.lowerBound - 3)], as: UTF8.self).lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    var host = url[authority]
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
    var port = scheme == "https" ? 443 : 80
    // A colon inside brackets belongs to an IPv6 address.
    if let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) {
      let digits = String(decoding: host[(colon + 1)...], as: UTF8.self)
      host = host[..<colon]
      if !digits.isEmpty {
        guard let number = Int(digits), (1...65_535).contains(number) else { return nil }
        port = number
      }
    }
    guard !host.isEmpty, Self.isCanonical(host) else { return nil }
    self.init(scheme: scheme, host: String(decoding: host, as: UTF8.self).lowercased(), port: port)
  }

  /// A key for the requests to an http or https URL that has no recognized origin, because its host is not in
  /// its canonical form or its port is invalid. It has the port 0, so it never equals a recognized origin.
  ///
  /// A failure to reach such a host must not affect other URLs without an origin.
  package init(unrecognized url: String) {
    let url = Array(url.utf8)
    let authority = Self.authority(of: url) ?? 0..<url.count
    let host = url[authority].split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
    self.init(
      scheme: String(decoding: url[..<max(0, authority.lowerBound - 3)], as: UTF8.self).lowercased(),
      host: String(decoding: host, as: UTF8.self).lowercased(), port: 0)
  }

  /// The origin of a template's URL; `nil` if the template's constant prefix does not determine the origin.
  package init?(_ template: Template) {
    var prefix = ""
    scan: for segment in template.segments {
      switch segment {
      case .literal(let text), .value(let text): prefix += text
      case .reference:
        // If the constant prefix does not include the end of the authority, the origin is unknown.
        let url = Array(prefix.utf8)
        guard let authority = Self.authority(of: url), authority.upperBound < url.count else { return nil }
        break scan
      }
    }
    self.init(url: prefix)
  }

  /// Whether libcurl uses the host exactly as it is written.
  ///
  /// libcurl decodes percent-encoding, omits an IPv6 zone, and parses `0x7f.1` and `127.1` as IPv4 addresses
  /// (WHATWG URL, "IPv4 parser"), so such a string names a different host than it appears to.
  private static func isCanonical(_ host: ArraySlice<UInt8>) -> Bool {
    guard !host.contains(UInt8(ascii: "%")) else { return false }
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // As in the WHATWG parser, the last label determines whether the host is an IPv4 address.
    let last = labels.last(where: { !$0.isEmpty }) ?? []
    guard let first = last.first, (0x30...0x39).contains(first) else { return true }
    let isNumber =
      last.allSatisfy { (0x30...0x39).contains($0) } || last.dropFirst().first.map { $0 | 0x20 } == 0x78
    guard isNumber else { return true }
    return labels.count == 4
      && labels.allSatisfy { label in
        UInt8(String(decoding: label, as: UTF8.self)).map { String($0).utf8.elementsEqual(label) } ?? false
      }
  }

  /// The range of a URL's authority (RFC 3986, section 3.2), after `://`.
  static func authority(of url: [UInt8]) -> Range<Int>? {
    guard let begin = url.firstRange(of: "://".utf8)?.upperBound else { return nil }
    return begin..<(url[begin...].firstIndex(where: "/?#".utf8.contains) ?? url.count)
  }
}

extension Origin: CustomStringConvertible {
  package var description: String {
    port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }
}
