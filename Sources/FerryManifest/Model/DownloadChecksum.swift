/// The checksum that a downloaded file must have. Exactly one of its properties is set.
package struct DownloadChecksum: Hashable, Codable, Sendable {
  /// A digest in hexadecimal.
  package var sha256: Template?
  package var sha512: Template?
  package var sha1: Template?
  package var md5: Template?
  /// The header field of the response that contains the digest.
  package var header: Field?

  package enum Field: String, Codable, Sendable, CaseIterable {
    /// RFC 9530: the digest of the whole document.
    case reprDigest = "Repr-Digest"
    /// RFC 9530: the digest of the body of one response.
    case contentDigest = "Content-Digest"
    /// RFC 3230: the digest of the whole document.
    case digest = "Digest"
    /// RFC 1864: the MD5 digest of the body of one response.
    case contentMD5 = "Content-MD5"

    /// Whether this field contains the digest of the whole document even if the response has only a part of it.
    package var coversWholeDocument: Bool {
      switch self {
      case .reprDigest, .digest: true
      case .contentDigest, .contentMD5: false
      }
    }
  }

  package init() {}

  package var templates: [Template] { [sha256, sha512, sha1, md5].compactMap(\.self) }
}
