import CCurl

/// A URL taken apart and resolved by libcurl's own parser (`curl_url`), so that what is decided about
/// a URL is decided about the very one that libcurl will use.
struct CurlURL: ~Copyable {
  private let handle: OpaquePointer

  /// `nil` where the text is no absolute URL.
  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
      curl_url_cleanup(handle)
      return nil
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// Goes to a `Location` value, absolute or relative. `false` where it is no reference.
  func resolve(_ location: String) -> Bool {
    // The flags with which libcurl follows redirects itself: servers send spaces and raw UTF-8.
    let flags = UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE)
    return curl_url_set(handle, CURLUPART_URL, location, flags) == CURLUE_OK
  }

  var text: String? { part(CURLUPART_URL) }

  /// Whom the URL speaks to; a port that is not given is the scheme's.
  var origin: Origin? {
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
      let port = part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT))
    else { return nil }
    return Origin(scheme: scheme.lowercased(), host: host.lowercased(), port: port)
  }

  private func part(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

/// RFC 6454: scheme, host and port.
struct Origin: Hashable {
  var scheme: String
  var host: String
  var port: String

  /// For messages: a URL's query and userinfo stay out of them.
  var address: String { "\(host):\(port)" }
}
