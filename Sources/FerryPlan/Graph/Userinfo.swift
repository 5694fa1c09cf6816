import FerryManifest

/// The user name and password of a URL (RFC 3986, section 3.2.1), with their percent-encoding. A value of
/// this type cannot be printed.
package struct Userinfo: Hashable, Sendable {
  private var user: SensitiveValue
  private var password: SensitiveValue?

  package init(user: String, password: String? = nil) {
    self.user = SensitiveValue(user)
    self.password = password.map { SensitiveValue($0) }
  }

  /// The user name and password of a URL; `nil` if the URL has neither.
  package init?(url: String) {
    let url = Array(url.utf8)
    guard let authority = Origin.authority(of: url),
      let at = url[authority].lastIndex(of: UInt8(ascii: "@"))
    else { return nil }
    let parts = url[authority.lowerBound..<at].split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    self.init(user: texts.first ?? "", password: texts.count > 1 ? texts[1] : nil)
  }

  /// The URL with its user name and password replaced by `***`, for output.
  package static func masked(in url: String) -> String {
    let bytes = Array(url.utf8)
    guard let authority = Origin.authority(of: bytes),
      let at = bytes[authority].lastIndex(of: UInt8(ascii: "@"))
    else { return url }
    return String(decoding: bytes[..<authority.lowerBound] + Array("***".utf8) + bytes[at...], as: UTF8.self)
  }

  /// The user name. Like `passwordText`, it may be used only in the URL.
  package var userText: String { user.revealed }
  package var passwordText: String? { password?.revealed }
}
