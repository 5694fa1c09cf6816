import CCrypto

/// MD5 (RFC 1321), for protocols that use it as a checksum. It does not protect against deliberate changes.
package enum MD5 {
  /// The digest in 16 bytes; `nil` if libcrypto does not provide MD5, as in FIPS mode.
  package static func hash(_ bytes: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 16)
    var size: CUnsignedInt = 0
    guard EVP_Digest(bytes, bytes.count, &digest, &size, EVP_md5(), nil) == 1, size == 16 else { return nil }
    return digest
  }
}

/// MD5 of bytes that arrive in pieces. If libcrypto does not provide MD5, as in FIPS mode, the digest is empty.
///
/// It is not Sendable: only one thread uses it at a time.
package final class MD5Digest: ByteDigest {
  private let digest: CryptoDigest?

  package init() { digest = MD5.hash([]) == nil ? nil : CryptoDigest(EVP_md5(), size: 16) }

  package func update(_ bytes: UnsafeRawBufferPointer) { digest?.update(bytes) }

  /// The digest of all bytes so far, in 16 bytes. The next update begins another digest.
  package func finalize() -> [UInt8] { digest?.finalize() ?? [] }
}
