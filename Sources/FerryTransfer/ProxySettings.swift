#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The proxies that the environment variables specify, as libcurl interprets them (curl(1), "Environment", and
/// CURLOPT_NOPROXY(3)).
///
/// libcurl before 8.7 does not report whether a transfer used a proxy (CURLINFO_USED_PROXY). The settings are used only
/// for messages: libcurl itself determines the server or proxy to which it connects.
struct ProxySettings: Sendable {
  private let variables: [String: String]

  /// Returns `nil` if no variable specifies a proxy.
  init?(_ value: (String) -> String?) {
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    var variables: [String: String] = [:]
    for name in names + ["no_proxy", "NO_PROXY"] {
      if let text = value(name), !text.isEmpty { variables[name] = text }
    }
    guard names.contains(where: { variables[$0] != nil }) else { return nil }
    self.variables = variables
  }

  /// The settings of this process. ferry never changes its environment.
  static let current = ProxySettings { name in getenv(name).map { String(cString: $0) } }

  /// `host:port` of the proxy for a URL; `nil` if the URL is requested without a proxy.
  func address(for url: String) -> String? {
    guard let origin = CurlURL(url)?.origin, !isExcluded(origin.host) else { return nil }
    // HTTP_PROXY in upper case could be set by a client of a CGI program, so libcurl ignores it.
    let names = origin.scheme == "http" ? ["http_proxy"] : ["https_proxy", "HTTPS_PROXY"]
    guard let proxy = (names + ["all_proxy", "ALL_PROXY"]).compactMap({ variables[$0] }).first else {
      return nil
    }
    return Self.address(ofProxy: proxy)
  }

  /// `host:port` of a proxy, without its user name and password. The scheme may be missing; the default port is
  /// 1080, or 443 for an HTTPS proxy.
  private static func address(ofProxy text: String) -> String? {
    var rest = Array(text.utf8)[...]
    var port = "1080"
    if let colon = rest.firstRange(of: "://".utf8) {
      if String(decoding: rest[..<colon.lowerBound], as: UTF8.self).lowercased() == "https" { port = "443" }
      rest = rest[colon.upperBound...]
    }
    // A password with a slash makes the URL malformed, but must not be shown either.
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
    rest = rest.prefix { !"/?#".utf8.contains($0) }
    guard !rest.isEmpty else { return nil }
    let afterHost = rest.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? rest.startIndex
    let host: ArraySlice<UInt8>
    if let colon = rest[afterHost...].lastIndex(of: UInt8(ascii: ":")) {
      host = rest[..<colon]
      port = String(decoding: rest[(colon + 1)...], as: UTF8.self)
    } else {
      host = rest
    }
    return "\(String(decoding: host, as: UTF8.self)):\(port)"
  }

  // MARK: NO_PROXY

  private func isExcluded(_ host: String) -> Bool {
    guard let list = variables["no_proxy"] ?? variables["NO_PROXY"] else { return false }
    if list == "*" { return true }
    let host = Self.plain(host)
    return list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).contains { entry in
      Self.matches(host, entry: String(entry))
    }
  }

  /// The host in lowercase, without the brackets of an IPv6 address and without a final dot.
  private static func plain(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { return String(host.dropFirst().dropLast()) }
    if host.hasSuffix(".") { host.removeLast() }
    return host
  }

  private static func matches(_ host: String, entry: String) -> Bool {
    if let address = IPAddress(host) { return address.isIn(entry) }
    var entry = plain(entry)
    if entry.hasPrefix(".") { entry.removeFirst() }
    return !entry.isEmpty && (host == entry || host.hasSuffix("." + entry))
  }
}

/// A numeric address, for comparison with entries of NO_PROXY.
private struct IPAddress: Equatable {
  let bytes: [UInt8]

  /// Returns `nil` if the text is not a numeric address.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: &six) { Array($0) }
    } else {
      return nil
    }
  }

  /// Whether the address equals the entry's address, or is in the entry's network (`192.168.0.0/16`).
  func isIn(_ entry: String) -> Bool {
    let parts = entry.split(separator: "/", maxSplits: 1)
    guard let first = parts.first else { return false }
    let text = first.hasPrefix("[") && first.hasSuffix("]") ? first.dropFirst().dropLast() : first
    guard let network = IPAddress(String(text)), network.bytes.count == bytes.count else { return false }
    guard parts.count == 2 else { return network == self }
    guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return false }
    for (index, byte) in bytes.enumerated() {
      let taken = min(max(bits - index * 8, 0), 8)
      let mask = taken == 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF00 >> taken)
      if (byte ^ network.bytes[index]) & mask != 0 { return false }
    }
    return true
  }
}
