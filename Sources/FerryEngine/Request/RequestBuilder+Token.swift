import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

/// Tokens in the query and in cookies.
extension RequestBuilder {
  /// The token in the query; `nil` if there is none.
  func queryToken(_ bindings: Bindings) throws(TransportFailure) -> QueryToken? {
    guard let tokenQuery else { return nil }
    func encoded(_ bytes: [UInt8]) -> String {
      var text: [UInt8] = []
      PercentEncoding.append(bytes, for: .query, to: &text)
      return String(decoding: text, as: UTF8.self)
    }
    var sensitive: [String] = []
    let value = try Self.text(tokenQuery.value, bindings, sensitive: &sensitive)
    return QueryToken(
      name: encoded(Array(tokenQuery.name.utf8)),
      value: tokenQuery.value.isPercentEncoded ? String(decoding: value, as: UTF8.self) : encoded(value))
  }

  /// The value of the header field `Cookie`.
  ///
  /// - Throws: if the value has a byte that ends a cookie or that a cookie cannot contain (RFC 6265, section 4.1.1).
  static func cookie(_ name: String, _ value: [UInt8]) throws(TransportFailure) -> [UInt8] {
    guard value.allSatisfy(isAllowedInCookie) else {
      throw failure("the value of the cookie '\(name)' contains a character that is not allowed in a cookie")
    }
    return Array(name.utf8) + [UInt8(ascii: "=")] + value
  }

  static func isAllowedInCookie(_ byte: UInt8) -> Bool {
    (0x21..<0x7F).contains(byte) && !"\",;\\".utf8.contains(byte)
  }
}
