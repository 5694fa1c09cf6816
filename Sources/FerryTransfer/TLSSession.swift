import CCrypto
import CCurl

/// What OpenSSL knows of the connection that a transfer goes over.
struct TLSSession {
  private let ssl: OpaquePointer

  /// `nil` for a connection without TLS, and for a libcurl with another TLS library than OpenSSL.
  ///
  /// - Parameter curl: an easy handle that has a connection (CURLINFO_TLS_SSL_PTR).
  init?(of curl: UnsafeMutableRawPointer) {
    var info: UnsafeMutableRawPointer?
    guard ferry_easy_get_pointer(curl, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK,
      let session = info?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
      session.backend == CURLSSLBACKEND_OPENSSL, let ssl = session.internals
    else { return nil }
    self.ssl = OpaquePointer(ssl)
  }

  /// Whether HTTP/2 was negotiated (ALPN, RFC 7301).
  var isHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: CUnsignedInt = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name else { return false }
    return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  /// Whether OpenSSL has received bytes that libcurl has not read: a record may be longer than a response.
  var hasUnreadBytes: Bool { SSL_has_pending(ssl) == 1 }

  /// Keeps what OpenSSL knows of the session after libcurl has closed the connection.
  var end: End { End(ssl) }

  /// How a session ended.
  final class End {
    private let ssl: OpaquePointer

    fileprivate init(_ ssl: OpaquePointer) {
      SSL_up_ref(ssl)
      self.ssl = ssl
    }

    deinit { SSL_free(ssl) }

    /// Whether the server announced the end with a closure alert. Without one, anybody on the path may have cut the
    /// connection (RFC 9112, section 9.8); libcurl does not report it.
    var isAnnounced: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }
  }
}
