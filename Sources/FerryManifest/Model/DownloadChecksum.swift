/// The checksum that a downloaded file must have. One of its properties is set.
package struct DownloadChecksum: Hashable, Codable, Sendable {
  /// A digest in hexadecimal.
  package var sha256: Template?
  package var sha512: Template?
  package var sha1: Template?
  package var md5: Template?
  /// The header field of the response that states the digest.
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

    /// Whether the field of a response with a part of the document states the digest of the whole document.
    package var coversWholeDocument: Bool {
      switch self {
      case .reprDigest, .digest: true
      case .contentDigest, .contentMD5: false
      }
    }
  }

  package init() {}

  var templates: [Template] { [sha256, sha512, sha1, md5].compactMap(\.self) }
}
