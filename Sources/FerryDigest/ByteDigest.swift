/// A digest of bytes that arrive in pieces.
///
/// It is not Sendable: only one thread uses it at a time.
package protocol ByteDigest: AnyObject {
  func update(_ bytes: UnsafeRawBufferPointer)
  /// The digest of all bytes so far. The next update begins another digest.
  func finalize() -> [UInt8]
}

/// The checksums that ferry can compute.
package enum DigestAlgorithm: Hashable, Sendable {
  case sha256
  case sha512
  case sha1
  case md5
  case crc32
  case crc32c

  /// The number of bytes of a digest.
  package var size: Int {
    switch self {
    case .sha256: 32
    case .sha512: 64
    case .sha1: 20
    case .md5: 16
    case .crc32, .crc32c: 4
    }
  }

  package func makeDigest() -> any ByteDigest {
    switch self {
    case .sha256: SHA256()
    case .sha512: SHA512()
    case .sha1: SHA1()
    case .md5: MD5Digest()
    case .crc32: CRC32()
    case .crc32c: CRC32(.castagnoli)
    }
  }
}
