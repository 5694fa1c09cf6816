import FerryPlan
import Foundation

@testable import FerryEngine
@testable import FerryTransfer

/// Invariants of URLs and references from servers: RFC 3986, and the origin of a URL.
enum URLInvariants {
  /// The first part of the input is a base, the second a reference.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.parts(atMost: 2)
    let base = parts[0].text
    let reference = parts.count > 1 ? parts[1].text : ""
    var violations = recomposed(base) + recomposed(reference) + origins(base) + origins(reference)
    let resolved = URLReference(reference).resolved(against: URLReference(base))
    violations += target(resolved, URLReference(reference), URLReference(base))
    return violations
  }

  /// RFC 3986 §5.3: recomposing the parts of a reference gives the same reference.
  private static func recomposed(_ text: String) -> [String] {
    URLReference(text).description.isSame(as: text) ? [] : ["\(text) is taken apart into other parts"]
  }

  /// RFC 3986 §5.2.2, without removing dot segments.
  private static func target(_ target: URLReference, _ reference: URLReference, _ base: URLReference)
    -> [String]
  {
    var violations: [String] = []
    let isAbsolute = reference.scheme != nil
    if !same(target.scheme, isAbsolute ? reference.scheme : base.scheme) {
      violations.append("another scheme")
    }
    let hasAuthority = isAbsolute || reference.authority != nil
    if !same(target.authority, hasAuthority ? reference.authority : base.authority) {
      violations.append("another authority")
    }
    if !same(target.fragment, reference.fragment) { violations.append("another fragment") }
    let isMerged = !hasAuthority && !reference.path.isEmpty
    if isMerged, base.authority != nil {
      let segments = target.path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
      if segments.contains(where: {
        $0.elementsEqual(".".unicodeScalars) || $0.elementsEqual("..".unicodeScalars)
      }) {
        violations.append("dots stay in \(target.path)")
      }
      if target.path.unicodeScalars.first != "/" {
        violations.append("\(target.path) does not begin with a slash")
      }
    }
    return violations
  }

  /// ferry and libcurl determine the same origin for a URL.
  private static func origins(_ text: String) -> [String] {
    guard !text.utf8.contains(0), let ours = FerryPlan.Origin(url: text), let curl = CurlURL(text)?.origin
    else {
      return []
    }
    let isSame =
      ours.scheme == curl.scheme && address(ours.host) == address(curl.host) && ours.port == curl.port
    return isSame
      ? [] : ["\(text) speaks to \(ours) here, and to \(curl.scheme)://\(curl.address) in libcurl"]
  }

  /// The bytes of an IPv6 address, which has several spellings; otherwise the host's text.
  private static func address(_ host: String) -> [UInt8] {
    guard host.hasPrefix("["), host.hasSuffix("]") else { return Array(host.utf8) }
    var address = in6_addr()
    guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1 else {
      return Array(host.utf8)
    }
    return withUnsafeBytes(of: address) { Array($0) }
  }

  private static func same(_ a: String?, _ b: String?) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): a.isSame(as: b)
    case (nil, _?), (_?, nil): false
    }
  }
}
