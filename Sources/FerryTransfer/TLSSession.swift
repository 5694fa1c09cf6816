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

  /// Sets `hasAnnouncedEnd` of the handle's exchange once the server has announced the end with a closure alert. Without
  /// one, anybody on the path may have cut the connection (RFC 9112, section 9.8); libcurl does not report it.
  ///
  /// - Parameter handle: lives until the connection is closed.
  func reportEnd(to handle: EasyHandle) {
    SSL_set_ex_data(ssl, Self.applicationData, Unmanaged.passUnretained(handle).toOpaque())
    SSL_set_info_callback(ssl) { ssl, event, value in
      guard event == SSL_CB_READ_ALERT, value & 0xFF == SSL_AD_CLOSE_NOTIFY,
        let handle = SSL_get_ex_data(ssl, TLSSession.applicationData)
      else { return }
      Unmanaged<EasyHandle>.fromOpaque(handle)._withUnsafeGuaranteedRef {
        $0.exchange?.hasAnnouncedEnd = true
      }
    }
  }

  /// The index that OpenSSL leaves to applications (SSL_set_app_data(3)); libcurl has others.
  private static let applicationData: CInt = 0
}
