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

  /// The origin of an absolute http or https URL, `nil` for anything else.
  ///
  /// It is read by bytes, as the server's name is: a mark that combines with a `/` does not make it another letter.
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
    guard !host.isEmpty else { return nil }
    self.init(scheme: scheme, host: String(decoding: host, as: UTF8.self).lowercased(), port: port)
  }

  /// The origin of a template's URL, where its constant beginning tells it.
  package init?(_ template: Template) {
    var prefix = ""
    scan: for segment in template.segments {
      switch segment {
      case .literal(let text), .value(let text): prefix += text
      case .reference:
        // An authority that the constant beginning does not end is not known yet.
        let url = Array(prefix.utf8)
        guard let authority = Self.authority(of: url), authority.upperBound < url.count else { return nil }
        break scan
      }
    }
    self.init(url: prefix)
  }

  /// Where a URL has its authority (RFC 3986, section 3.2), behind `://`.
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
