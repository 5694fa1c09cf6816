import FerryManifest
import FerryPlan
import Foundation

/// Passwords that are not secrets of the manifest: those of proxies in environment variables, and those that the
/// manifest itself contains. A server or proxy could repeat them in a response, so they are masked like secrets.
enum WrittenPasswords {
  /// The environment variables from which libcurl reads the URLs of proxies.
  private static let proxyVariables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  static func inEnvironment(_ environment: [String: String]) -> Set<String> {
    Set(proxyVariables.compactMap { environment[$0] }.flatMap { inProxy($0) })
  }

  static func inManifest(_ job: Job) -> Set<String> {
    var all: Set<String> = []
    let requests = job.plan.nodes.flatMap(\.steps).map(\.request) + job.manifest.onEnd.map(\.request.request)
    for request in requests { all.formUnion(inURL(request.url.literalStart)) }
    let credentials = job.manifest.sessions.compactMap(\.auth) + requests.compactMap(\.auth)
    for case .credentials(let known) in credentials {
      if let text = known.password?.literal { all.insert(text) }
    }
    for case .oauth2(let grant) in requests.map(\.body) {
      for text in [grant.clientSecret?.literal, grant.refreshToken?.literal] {
        if let text { all.insert(text) }
      }
    }
    return all
  }

  /// The password of a URL.
  static func inURL(_ url: String) -> [String] {
    guard let scheme = url.utf8.firstRange(of: "://".utf8) else { return [] }
    return inAuthority(url.utf8[scheme.upperBound...].prefix { !"/?#".utf8.contains($0) })
  }

  /// The password of a proxy's URL, whose scheme may be missing. The password ends at the last `@`, even if the URL is
  /// malformed because the password contains a slash.
  static func inProxy(_ url: String) -> [String] {
    let scheme = url.utf8.firstRange(of: "://".utf8)
    return inAuthority(url.utf8[(scheme?.upperBound ?? url.utf8.startIndex)...])
  }

  /// The password before a host, as written and decoded, and together with the user name, which a request contains in
  /// Base64 (RFC 7617). If there is no password, the user name takes its place, because some services use it for a token.
  private static func inAuthority(_ text: Substring.UTF8View) -> [String] {
    guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return [] }
    let parts = text[..<at].split(separator: UInt8(ascii: ":"), maxSplits: 1)
    guard let written = parts.last.map({ String(Substring($0)) }) else { return [] }
    let decoded = parts.map { String(Substring($0)) }.map { $0.removingPercentEncoding ?? $0 }
    return [written] + decoded.suffix(1) + [decoded.joined(separator: ":") + (decoded.count == 1 ? ":" : "")]
  }
}

extension Template {
  /// The text before the first reference.
  fileprivate var literalStart: String {
    guard case .literal(let text)? = segments.first else { return "" }
    return text
  }

  /// The text of a template; `nil` if the template contains a reference.
  fileprivate var literal: String? { references.isEmpty ? literalStart : nil }
}
