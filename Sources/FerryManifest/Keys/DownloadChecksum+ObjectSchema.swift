import FerryDigest

extension DownloadChecksum {
  static let shape = ObjectSchema<Self>(
    "Checksum",
    doc: "The checksum that the downloaded file must have. A file with a different checksum is not stored.",
    keys: [
      Key(
        "sha256", \.sha256, .digest("SHA-256", .sha256), default: "none",
        doc:
          "The SHA-256 digest in hexadecimal. It can be captured by a request, for example from a published list.",
        example: "\"${requests.sums.sha256}\""),
      Key(
        "sha512", \.sha512, .digest("SHA-512", .sha512), default: "none",
        doc: "The SHA-512 digest in hexadecimal.", example: "\"${requests.sums.sha512}\""),
      Key(
        "sha1", \.sha1, .digest("SHA-1", .sha1), default: "none",
        doc: "The SHA-1 digest in hexadecimal, which does not protect against deliberate changes.",
        example: "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"),
      Key(
        "md5", \.md5, .digest("MD5", .md5), default: "none",
        doc: "The MD5 digest in hexadecimal, which does not protect against deliberate changes.",
        example: "098f6bcd4621d373cade4e832627b4f6"),
      Key(
        "header", \.header, .choice(), default: "none",
        doc: """
          The header field of the response that contains the digest: `Repr-Digest` or `Content-Digest` (RFC \
          9530), \
          `Digest` (RFC 3230) or `Content-MD5`. The field is required. With `Content-Digest` and `Content-MD5`, an \
          interrupted download starts over.
          """,
        example: "Repr-Digest"),
    ],
    rules: [.exactlyOne(["sha256", "sha512", "sha1", "md5", "header"])],
    blank: { _, _ in Self() })
}

extension ValueKind where Value == Template {
  /// A digest in hexadecimal, or references to it.
  fileprivate static func digest(_ name: String, _ algorithm: DigestAlgorithm) -> Self {
    template("\(name) digest").refused { template in
      template.references.isEmpty ? DigestRule.problem(template.description, name, algorithm) : nil
    }
  }
}

extension Key {
  /// `checksum` of a download.
  static func checksum(_ path: WritableKeyPath<Object, DownloadChecksum?> & Sendable) -> Self {
    Key(
      "checksum", path, .object(DownloadChecksum.shape), default: "none",
      doc:
        "The checksum that the file must have. A file with a different checksum is not stored, and the download fails with `unexpected_answer`.",
      example: "{ header: Repr-Digest }")
  }

  /// `keep_modified` of a download.
  static func keepModified(_ path: WritableKeyPath<Object, Bool> & Sendable) -> Self {
    Key(
      "keep_modified", path, .boolean,
      doc:
        "Whether the file gets the modification time in `Last-Modified` instead of the time of the download.",
      example: "true")
  }

  /// `segments` of a download.
  static func segments(_ path: WritableKeyPath<Object, Int> & Sendable) -> Self {
    Key(
      "segments", path, .integer(1...16),
      doc: """
        The maximum number of connections over which ranges of one file are downloaded at once. It applies to files of \
        more than 8 MiB, if the server sends ranges and a strong validator. All of them count for \
        `max_connections_per_host`.
        """,
      example: "4")
  }
}
