import CCrypto

/// SHA-1 (FIPS 180-4) of bytes that arrive in pieces. It detects damage, but does not protect against forgery.
///
/// It is not Sendable: only one thread uses it at a time.
package final class SHA1: ByteDigest {
  private let digest = CryptoDigest(EVP_sha1(), size: 20)

  package init() {}

  package func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

  /// The digest of all bytes so far, in 20 bytes. The next update begins another digest.
  package func finalize() -> [UInt8] { digest.finalize() }
}
