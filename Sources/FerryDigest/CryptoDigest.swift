import CCrypto

/// A digest of bytes that arrive in pieces, computed by libcrypto.
///
/// It is not Sendable: only one thread uses it at a time.
final class CryptoDigest {
  private let context: OpaquePointer
  private let type: OpaquePointer?
  /// The size of the digest in bytes.
  private let size: Int

  /// - Parameter type: an `EVP_MD` that every libcrypto supports.
  init(_ type: OpaquePointer?, size: Int) {
    // EVP_MD_CTX_new returns NULL only if memory is exhausted, in which case Swift's own allocations terminate
    // the process.
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    self.context = context
    self.type = type
    self.size = size
    begin()
  }

  deinit { EVP_MD_CTX_free(context) }

  private func begin() {
    let isReady = EVP_DigestInit_ex(context, type, nil) == 1
    precondition(isReady, "libcrypto must support the digest")
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    let isTaken = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    precondition(isTaken, "libcrypto must accept bytes after its initialization")
  }

  /// The digest of all bytes so far. The next update begins another digest.
  func finalize() -> [UInt8] {
    let digest = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      var length: CUnsignedInt = 0
      let isDone = EVP_DigestFinal_ex(context, buffer.baseAddress, &length) == 1
      precondition(isDone && length == size, "a digest must have the size of its kind")
      count = size
    }
    begin()
    return digest
  }
}
