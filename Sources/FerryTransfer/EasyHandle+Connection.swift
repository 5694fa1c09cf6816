import CCurl
import FerryPlan

/// The options of connections. The handle keeps the `ConnectionOptions` alive while libcurl uses their bytes.
extension EasyHandle {
  /// Sets the options that were not set since the handle was created. An option that is unset has its default.
  ///
  /// - Parameter isIdentified: whether the client certificate is presented to the hop's server.
  func set(_ options: ConnectionOptions, isIdentified: Bool) throws(TransportFailure) {
    try set(options.tls, isIdentified: isIdentified)
  }

  private func set(_ tls: TLSOptions, isIdentified: Bool) throws(TransportFailure) {
    let minimum =
      switch tls.minimum {
      case .tls12: CURL_SSLVERSION_TLSv1_2
      case .tls13: CURL_SSLVERSION_TLSv1_3
      }
    ferry_easy_set_long(curl, CURLOPT_SSLVERSION, Int(minimum))
    if let authorities = tls.authorities {
      // The defaults are a file and a folder; both would remain trusted.
      ferry_easy_set_string(curl, CURLOPT_CAINFO, nil)
      try accept(ferry_easy_set_string(curl, CURLOPT_CAPATH, authorities.folder))
      if let certificates = authorities.certificates { try set(CURLOPT_CAINFO_BLOB, certificates) }
    }
    if let pin = tls.pinnedPublicKey {
      try accept(ferry_easy_set_string(curl, CURLOPT_PINNEDPUBLICKEY, pin))
    }
    guard isIdentified, let identity = tls.identity else { return }
    try set(CURLOPT_SSLCERT_BLOB, identity.certificate)
    try accept(ferry_easy_set_string(curl, CURLOPT_SSLCERTTYPE, identity.isPKCS12 ? "P12" : "PEM"))
    if let key = identity.key { try set(CURLOPT_SSLKEY_BLOB, key) }
    try accept(ferry_easy_set_string(curl, CURLOPT_KEYPASSWD, identity.password))
  }

  private func set(_ option: CURLoption, _ content: FixedBytes) throws(TransportFailure) {
    try accept(ferry_easy_set_blob(curl, option, content.bytes.baseAddress, content.bytes.count))
  }

  /// Fails if libcurl was built without an option.
  private func accept(_ code: CURLcode) throws(TransportFailure) {
    guard code == CURLE_OK else {
      throw Self.malformed(
        "libcurl does not support a setting of the session: \(String(cString: curl_easy_strerror(code)))")
    }
  }
}
