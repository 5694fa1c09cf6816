import CCrypto

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
///
/// It is not Sendable: only one thread uses it at a time.
package final class SHA256: ByteDigest {
  /// The size of a digest in bytes.
  package static let size = 32

  private let digest = CryptoDigest(EVP_sha256(), size: size)

  package init() {}

  package func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

  package func update(_ bytes: some Sequence<UInt8>) {
    let isContiguous = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) } != nil
    if !isContiguous { Array(bytes).withUnsafeBytes(update) }
  }

  /// The digest of all bytes so far, in 32 bytes. The next update begins another digest.
  package func finalize() -> [UInt8] { digest.finalize() }

  /// The digest of these bytes, in 32 bytes.
  package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }
}
