/// How the connections of a session are made.
package struct ConnectionSettings: Hashable, Codable, Sendable {
  package var tls = TLSSettings()

  package init() {}

  /// The texts with references.
  package var templates: [Template] { [tls.keyPassword].compactMap(\.self) }
}

/// The TLS settings of a session.
package struct TLSSettings: Hashable, Codable, Sendable {
  /// The lowest version of TLS. RFC 8996 forbids versions before 1.2.
  package enum Version: String, Codable, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
  }

  /// A file with the trusted authorities in PEM; `nil` for those of the system.
  package var caFile: String?
  /// A folder of trusted authorities, in the form of openssl-rehash(1).
  package var caPath: String?
  /// The digests of the accepted public keys, as for CURLOPT_PINNEDPUBLICKEY.
  package var pinnedPublicKey: String?
  package var minimum = Version.tls12
  /// The client certificate, in PEM or PKCS#12.
  package var certificate: String?
  /// The private key of a certificate in PEM; `nil` if it is in the certificate's file.
  package var key: String?
  package var keyPassword: Template?

  package init() {}

  /// The files that are read, by their keys.
  package var files: [(key: String, path: String)] {
    [("ca_file", caFile), ("certificate", certificate), ("key", key)].compactMap { key, path in
      path.map { (key, $0) }
    }
  }
}
