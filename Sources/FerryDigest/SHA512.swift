import CCrypto

/// SHA-512 (FIPS 180-4) of bytes that arrive in pieces.
///
/// It is not Sendable: only one thread uses it at a time.
package final class SHA512: ByteDigest {
  private let digest = CryptoDigest(EVP_sha512(), size: 64)

  package init() {}

  package func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

  /// The digest of all bytes so far, in 64 bytes. The next update begins another digest.
  package func finalize() -> [UInt8] { digest.finalize() }
}
