import CCrypto

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces, computed by libcrypto.
///
/// It is not Sendable: only one thread uses it at a time.
package final class SHA256 {
  /// The size of a digest in bytes.
  package static let size = 32

  private let context: OpaquePointer

  package init() {
    // EVP_MD_CTX_new returns NULL only if memory is exhausted, in which case Swift's own allocations terminate
    // the process.
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    self.context = context
    begin()
  }

  deinit { EVP_MD_CTX_free(context) }

  private func begin() {
    let isReady = EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    precondition(isReady, "libcrypto must support SHA-256")
  }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    let isTaken = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    precondition(isTaken, "libcrypto must accept bytes after its initialization")
  }

  package func update(_ bytes: some Sequence<UInt8>) {
    let isContiguous = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) } != nil
    if !isContiguous { Array(bytes).withUnsafeBytes(update) }
  }

  /// The digest of all bytes so far, in 32 bytes. The next update begins another digest.
  package func finalize() -> [UInt8] {
    let digest = [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      var size: CUnsignedInt = 0
      let isDone = EVP_DigestFinal_ex(context, buffer.baseAddress, &size) == 1
      precondition(isDone && size == Self.size, "a SHA-256 digest must have 32 bytes")
      count = Self.size
    }
    begin()
    return digest
  }

  /// The digest of these bytes, in 32 bytes.
  package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }
}
