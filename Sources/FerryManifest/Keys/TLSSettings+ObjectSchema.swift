extension TLSSettings {
  static let shape = ObjectSchema<Self>(
    "TLS",
    doc: """
      The TLS settings of the session's connections. Paths are relative to the manifest's folder; `~/` is the home \
      directory. The files are read when a run starts. Without `ca_file` and `ca_path`, the authorities are those of \
      the environment variables `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR`, otherwise those of the system.
      """,
    keys: [
      Key(
        "ca_file", \.caFile, .path, default: "the system's authorities",
        doc: "A file with the certificates of all trusted authorities, in PEM.", example: "ca.pem"),
      Key(
        "ca_path", \.caPath, .path, default: "the system's authorities",
        doc: """
          A folder with the certificates of trusted authorities, prepared with openssl-rehash(1). Together with \
          `ca_file`, both are trusted.
          """,
        example: "/etc/example/authorities"),
      Key(
        "pinned_public_key", \.pinnedPublicKey, .pinnedPublicKey, default: "any key with a valid certificate",
        doc: """
          The SHA-256 digests of the public keys that servers of the session may have, each as `sha256//` and Base64, \
          separated by `;`. The certificate must also be valid.
          """,
        example: "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
      Key("minimum", \.minimum, .choice(), doc: "The lowest version of TLS.", example: "\"1.3\""),
      Key(
        "certificate", \.certificate, .path, default: "none",
        doc: """
          The client certificate, in PEM (with the certificates of its issuers, if the server needs them) or PKCS#12. \
          It is presented only to origins of the manifest's URLs in the session.
          """,
        example: "client.pem"),
      Key(
        "key", \.key, .path, default: "the file of `certificate`",
        doc: "The private key of `certificate`, in PEM.",
        example: "client.key"),
      Key(
        "key_password", \.keyPassword, .headerValue, default: "none",
        doc: "The password of the private key or of the PKCS#12 file.", example: "\"${secrets.key_password}\""
      ),
    ],
    rules: [.requires("key", "certificate"), .requires("key_password", "certificate")],
    blank: { _, _ in Self() })
}

extension ValueKind where Value == String {
  /// Digests of public keys in the notation of curl's `--pinnedpubkey`.
  fileprivate static var pinnedPublicKey: Self {
    constant("list of public keys").refused { text in
      let isList = text.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { pin in
        let digest = pin.utf8.dropFirst("sha256//".utf8.count)
        // The Base64 form of 32 bytes.
        return pin.hasPrefix("sha256//") && digest.count == 44 && digest.last == UInt8(ascii: "=")
          && digest.dropLast().allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
            default: false
            }
          }
      }
      guard !isList else { return nil }
      return Problem(
        .invalidName, "this is not a list of digests of public keys",
        help: "write 'sha256//' and the Base64 of the key's SHA-256; separate several keys with ';'")
    }
  }
}
