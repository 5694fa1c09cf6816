import FerryDigest
import FerryManifest

/// The checksum of a part, as an S3 server states it.
package struct PartChecksum: Hashable, Sendable {
  package var algorithm: Upload.Transfer.Checksum
  /// The checksum in Base64.
  package var value: String

  package init(_ algorithm: Upload.Transfer.Checksum, _ value: String) {
    self.algorithm = algorithm
    self.value = value
  }

  /// Whether a string can be sent back to the server as a checksum.
  var isValid: Bool {
    (1...64).contains(value.utf8.count)
      && value.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
          true
        default: false
        }
      }
  }
}

extension Upload.Transfer.Checksum {
  package var algorithm: DigestAlgorithm {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .crc32: .crc32
    case .crc32c: .crc32c
    }
  }

  /// The value of `x-amz-checksum-algorithm`.
  package var nameInS3: String { rawValue.uppercased() }
  /// The header field of S3 that contains the checksum of a body.
  package var fieldInS3: String { "x-amz-checksum-\(rawValue)" }
  /// The element of S3's documents that contains the checksum of a part.
  package var elementInS3: String { "Checksum\(nameInS3)" }
}
