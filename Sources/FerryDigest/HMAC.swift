import CCrypto

/// HMAC-SHA256 (RFC 2104, FIPS 198-1), computed by libcrypto.
package enum HMAC {
  /// The authentication code of a message, in 32 bytes.
  package static func sha256(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    // libcrypto would use the key of the previous call instead of a null pointer.
    let padded = key.isEmpty ? [0] : key
    return [UInt8](unsafeUninitializedCapacity: SHA256.size) { buffer, count in
      var size: CUnsignedInt = 0
      let code = CCrypto.HMAC(
        EVP_sha256(), padded, CInt(key.count), message, message.count, buffer.baseAddress, &size)
      precondition(code != nil && size == SHA256.size, "libcrypto must support HMAC-SHA256")
      count = SHA256.size
    }
  }
}
