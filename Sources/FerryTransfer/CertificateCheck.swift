import CCrypto

/// Checks the certificates and keys of a manifest, so that a mistake is reported when a run starts and not for each
/// request.
package enum CertificateCheck {
  /// The reason why bytes cannot be used as the trusted authorities; `nil` if they can.
  package static func problem(ofAuthorities bytes: [UInt8]) -> String? {
    hasCertificate(bytes) ? nil : "it contains no certificate in PEM"
  }

  /// A problem with a client certificate, or with the file of its key (`isOfKey`).
  package struct Problem: Equatable, Sendable {
    package var isOfKey = false
    package var reason: String
  }

  /// - Parameter key: `nil` if it is in `certificate`.
  package static func problem(
    ofCertificate certificate: [UInt8], key: [UInt8]?, password: String?
  ) -> Problem? {
    defer { ERR_clear_error() }
    if isPKCS12(certificate) {
      guard key == nil else {
        return Problem(isOfKey: true, reason: "the certificate is in PKCS#12, which contains its key")
      }
      return pkcs12Problem(certificate, password)
    }
    guard let first = withBIO(certificate, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      return Problem(reason: "it contains no certificate in PEM, and is not PKCS#12")
    }
    defer { X509_free(first) }
    ERR_clear_error()
    guard let pair = privateKey(key ?? certificate, password) else {
      return Problem(isOfKey: key != nil, reason: keyProblem(hasPassword: password != nil))
    }
    defer { EVP_PKEY_free(pair) }
    guard X509_check_private_key(first, pair) == 1 else {
      return Problem(isOfKey: key != nil, reason: "its private key does not belong to the certificate")
    }
    return nil
  }

  /// PKCS#12 begins with the tag of a DER sequence; PEM is text.
  package static func isPKCS12(_ bytes: [UInt8]) -> Bool {
    bytes.first == 0x30 && bytes.contains { $0 >= 0x80 }
  }

  private static func hasCertificate(_ bytes: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let certificate = withBIO(bytes, { PEM_read_bio_X509($0, nil, nil, nil) }) else { return false }
    X509_free(certificate)
    return true
  }

  private static func pkcs12Problem(_ bytes: [UInt8], _ password: String?) -> Problem? {
    guard let archive = withBIO(bytes, { d2i_PKCS12_bio($0, nil) }) else {
      return Problem(reason: "it is neither PEM nor PKCS#12")
    }
    defer { PKCS12_free(archive) }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    let isRead = PKCS12_parse(archive, password ?? "", &key, &certificate, nil) == 1
    defer {
      EVP_PKEY_free(key)
      X509_free(certificate)
    }
    guard isRead else {
      let reason = ERR_GET_REASON(ERR_peek_last_error())
      if reason == PKCS12_R_MAC_VERIFY_FAILURE {
        return Problem(reason: keyProblem(hasPassword: password != nil))
      }
      return Problem(
        reason:
          "it cannot be read: \(text(ERR_peek_last_error())); a file written by an older program may use a cipher that OpenSSL no longer supports"
      )
    }
    guard key != nil, certificate != nil else {
      return Problem(reason: "it lacks a certificate or its private key")
    }
    return nil
  }

  private static func keyProblem(hasPassword: Bool) -> String {
    hasPassword
      ? "its private key cannot be read with 'key_password'"
      : "it has no private key that can be read without 'key_password'"
  }

  private static func privateKey(_ bytes: [UInt8], _ password: String?) -> OpaquePointer? {
    var password = Array((password ?? "").utf8)
    return password.withUnsafeMutableBytes { password in
      var secret = password
      return withUnsafeMutablePointer(to: &secret) { secret in
        withBIO(bytes) { bio in
          // Without a callback, OpenSSL would ask for the password at the terminal.
          PEM_read_bio_PrivateKey(
            bio, nil,
            { buffer, size, _, context in
              guard let buffer,
                let secret = context?.assumingMemoryBound(to: UnsafeMutableRawBufferPointer.self).pointee,
                !secret.isEmpty, secret.count <= size
              else { return -1 }
              UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyBytes(from: secret)
              return CInt(secret.count)
            }, secret)
        }
      }
    }
  }

  private static func withBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Result?) -> Result? {
    bytes.withUnsafeBytes { bytes in
      let bio = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count))
      defer { BIO_free(bio) }
      return body(bio)
    }
  }

  private static func text(_ code: CUnsignedLong) -> String {
    ERR_reason_error_string(code).map { String(cString: $0) } ?? "an error of OpenSSL"
  }
}
