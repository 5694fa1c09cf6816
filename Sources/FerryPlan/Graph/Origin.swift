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
  package init?(url: some StringProtocol) {
    guard let colon = url.range(of: "://") else { return nil }
    let scheme = url[..<colon.lowerBound].lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    let rest = url[colon.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let hostAndPort =
      authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    var host = hostAndPort
    var port = scheme == "https" ? 443 : 80
    // A colon inside brackets belongs to an IPv6 address.
    if let separator = hostAndPort.lastIndex(of: ":"), !hostAndPort[separator...].contains("]") {
      host = hostAndPort[..<separator]
      let digits = hostAndPort[hostAndPort.index(after: separator)...]
      if !digits.isEmpty {
        guard let number = Int(digits), (1...65_535).contains(number) else { return nil }
        port = number
      }
    }
    guard !host.isEmpty else { return nil }
    self.init(scheme: scheme, host: host.lowercased(), port: port)
  }

  /// The origin of a template's URL, where its constant beginning tells it.
  package init?(_ template: Template) {
    var prefix = ""
    scan: for segment in template.segments {
      switch segment {
      case .literal(let text), .value(let text): prefix += text
      case .reference:
        // An authority that the constant beginning does not end is not known yet.
        guard let colon = prefix.range(of: "://"),
          prefix[colon.upperBound...].contains(where: { $0 == "/" || $0 == "?" || $0 == "#" })
        else { return nil }
        break scan
      }
    }
    self.init(url: prefix)
  }
}

extension Origin: CustomStringConvertible {
  package var description: String {
    port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }
}

extension StringProtocol {
  /// The first place where `text` stands (the standard library has no such search for substrings).
  fileprivate func range(of text: String) -> Range<Index>? {
    firstRange(of: text)
  }
}
