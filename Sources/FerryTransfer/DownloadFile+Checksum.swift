import FerryDigest
import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The checksum of a complete download.
extension DownloadFile {
  private static let piece = 256 << 10

  /// The reason why the file does not have the required checksum; `nil` if it has it.
  func refusal(
    _ response: TransferResponse, _ checksum: TransferRequest.Checksum, _ interruption: StoreInterruption
  ) throws(TransportFailure) -> String? {
    switch checksum {
    case .digest(let algorithm, let expected):
      return try digest(algorithm, interruption) == expected
        ? nil : "the \(algorithm.name) digest of the file is not that in 'checksum'"
    case .field(let name):
      let values = response.headers.filter { $0.name.isField(named: name) }.map(\.value)
      guard !values.isEmpty else { return "the response has no header '\(name)', which 'checksum' requires" }
      guard let (algorithm, expected) = DigestField.strongest(of: name, values) else {
        return
          "the header '\(name)' contains no usable SHA-512, SHA-256, SHA-1 or MD5 digest, or contradictory ones"
      }
      return try digest(algorithm, interruption) == expected
        ? nil : "the \(algorithm.name) digest of the file is not that in the header '\(name)'"
    }
  }

  private func digest(
    _ algorithm: DigestAlgorithm, _ interruption: StoreInterruption
  ) throws(TransportFailure) -> [UInt8] {
    let digest = algorithm.makeDigest()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < size {
      if let failure = interruption.failure { throw failure }
      let wanted = min(buffer.count, Int(size - offset))
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
    return digest.finalize()
  }
}

/// Header fields that contain digests (RFC 9530, RFC 3230, RFC 1864).
enum DigestField {
  /// The algorithms by their names in `Repr-Digest`, `Content-Digest` and `Digest`, the strongest first.
  private static let algorithms: [(name: String, algorithm: DigestAlgorithm)] = [
    ("sha-512", .sha512), ("sha-256", .sha256), ("sha", .sha1), ("md5", .md5),
  ]

  /// The digest with the strongest known algorithm in the values of a field; `nil` if there is none, or if the field
  /// contains different digests with that algorithm.
  static func strongest(of field: String, _ values: [String]) -> (DigestAlgorithm, [UInt8])? {
    var found: [String: [String]] = [:]
    if field.lowercased() == "content-md5" {
      found["md5"] = values
    } else {
      for member in values.joined(separator: ",").split(separator: ",") {
        guard let equals = member.firstIndex(of: "=") else { continue }
        let name = member[..<equals].filter { !$0.isWhitespace }.lowercased()
        found[name, default: []].append(String(member[member.index(after: equals)...]))
      }
    }
    for (name, algorithm) in algorithms {
      guard let texts = found[name] else { continue }
      // A structured field writes a byte sequence between colons. Parameters after it have no meaning.
      let digests = texts.map { text -> [UInt8]? in
        var text = Substring(text.filter { !$0.isWhitespace })
        if text.first == ":" {
          text = text.dropFirst()
          guard let end = text.firstIndex(of: ":") else { return nil }
          text = text[..<end]
        }
        return Base64.decode(String(text)).flatMap { $0.count == algorithm.size ? $0 : nil }
      }
      guard let first = digests.first, let digest = first, digests.allSatisfy({ $0 == digest }) else {
        return nil
      }
      return (algorithm, digest)
    }
    return nil
  }
}

extension DigestAlgorithm {
  fileprivate var name: String {
    switch self {
    case .sha256: "SHA-256"
    case .sha512: "SHA-512"
    case .sha1: "SHA-1"
    case .md5: "MD5"
    case .crc32: "CRC-32"
    case .crc32c: "CRC-32C"
    }
  }
}
