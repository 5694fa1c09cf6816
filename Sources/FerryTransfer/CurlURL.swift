import CCurl
import FerryPlan

/// A URL parsed and resolved by libcurl's own parser (`curl_url`), so that checks apply to exactly the URL
/// that libcurl will use.
struct CurlURL: ~Copyable {
  private let handle: OpaquePointer

  /// Returns `nil` if the text is not an absolute URL.
  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
      curl_url_cleanup(handle)
      return nil
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// Resolves a `Location` value, absolute or relative, against this URL. Returns `false` if it is not a URL
  /// reference.
  func resolve(_ location: String) -> Bool {
    // These are the flags with which libcurl itself follows redirects, because servers send spaces and raw
    // UTF-8.
    let flags = UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE)
    return curl_url_set(handle, CURLUPART_URL, location, flags) == CURLUE_OK
  }

  var text: String? { part(CURLUPART_URL) }

  /// The origin of the URL. If the URL does not specify a port, the scheme's default port is used.
  var origin: Origin? {
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
      let port = part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) })
    else { return nil }
    return Origin(scheme: scheme.lowercased(), host: host.lowercased(), port: port)
  }

  /// The value of the Host field that libcurl sends: the host, and the port unless it is the scheme's default port.
  var hostField: String? {
    guard let host = part(CURLUPART_HOST), let origin else { return nil }
    let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
    return isDefault ? host : "\(host):\(origin.port)"
  }

  /// The path as it is sent; at least `/`.
  var path: String { part(CURLUPART_PATH) ?? "/" }

  /// The query as it is sent, without the question mark; `nil` if there is none.
  var query: String? { part(CURLUPART_QUERY) }

  /// The user name and password in the URL; `nil` if there are none.
  var userinfo: Userinfo? {
    let (user, password) = (part(CURLUPART_USER), part(CURLUPART_PASSWORD))
    guard user != nil || password != nil else { return nil }
    return Userinfo(user: user ?? "", password: password)
  }

  /// Replaces the user name and password; `nil` removes them.
  func set(_ userinfo: Userinfo?) {
    curl_url_set(handle, CURLUPART_USER, userinfo?.userText, 0)
    curl_url_set(handle, CURLUPART_PASSWORD, userinfo?.passwordText, 0)
  }

  private func part(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

extension Origin {
  /// `host:port`, for messages. Messages must not contain a URL's query or userinfo.
  var address: String { "\(host):\(port)" }
}
