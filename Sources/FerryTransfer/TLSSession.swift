import CCrypto
import CCurl

/// The OpenSSL session of a transfer's connection.
struct TLSSession {
  private let ssl: OpaquePointer

  /// Returns `nil` if the connection does not use TLS, or if libcurl uses a TLS library other than OpenSSL.
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

  /// Whether OpenSSL has received bytes that libcurl has not read. A record may be longer than a response.
  var hasUnreadBytes: Bool { SSL_has_pending(ssl) == 1 }

  /// Observes how the session ends.
  func watchEnd() -> End {
    let end = End()
    SSL_set_ex_data(ssl, Self.endIndex, Unmanaged.passRetained(end).toOpaque())
    SSL_set_info_callback(ssl) { ssl, event, value in
      guard event == SSL_CB_READ_ALERT, value & 0xFF == SSL_AD_CLOSE_NOTIFY,
        let end = SSL_get_ex_data(ssl, TLSSession.endIndex)
      else { return }
      Unmanaged<End>.fromOpaque(end)._withUnsafeGuaranteedRef { $0.isAnnounced = true }
    }
    return end
  }

  /// How a session ends.
  final class End {
    /// Whether the server announced the end with a closure alert. Without one, an attacker on the network
    /// path may have cut the connection (RFC 9112, section 9.8). libcurl does not report this.
    fileprivate(set) var isAnnounced = false
  }

  /// The index at which a session refers to its `End`. OpenSSL releases this object together with the
  /// session, which may outlive the transfer.
  private static let endIndex = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) {
    _, end, _, _, _, _ in
    if let end { Unmanaged<End>.fromOpaque(end).release() }
  }
}
