import CCurl

/// The TLS options of a connection, with the contents of their files.
package struct TLSOptions: Sendable {
  package enum Version: Sendable {
    case tls12, tls13
  }

  /// The trusted authorities.
  package struct Authorities: Sendable {
    /// Certificates in PEM; `nil` if there are none other than those of the folder.
    let certificates: FixedBytes?
    /// A folder of certificates in the form of openssl-rehash(1).
    let folder: String?

    /// - Parameter certificates: checked with `CertificateCheck`.
    package init(certificates: [UInt8]?, folder: String?) {
      self.certificates = certificates.map(FixedBytes.init)
      self.folder = folder
    }
  }

  /// `nil` for the authorities with which libcurl was built.
  package var authorities: Authorities?
  /// The digests of the accepted public keys, in the form of CURLOPT_PINNEDPUBLICKEY.
  package var pinnedPublicKey: String?
  package var minimum = Version.tls12
  package var identity: ClientIdentity?

  package init() {}
}

/// A client certificate with its private key. It is printed as `***`.
package struct ClientIdentity: Sendable {
  let certificate: FixedBytes
  let isPKCS12: Bool
  /// The private key in PEM; `nil` if it is in `certificate`.
  let key: FixedBytes?
  let password: String?

  /// - Parameters: checked with `CertificateCheck`.
  package init(certificate: [UInt8], key: [UInt8]?, password: String?) {
    self.certificate = FixedBytes(certificate)
    isPKCS12 = CertificateCheck.isPKCS12(certificate)
    self.key = key.map(FixedBytes.init)
    self.password = password
  }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Bytes at a fixed address, which libcurl reads in place.
///
/// The bytes are never changed, so that all threads may read them.
final class FixedBytes: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer

  init(_ content: [UInt8]) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, content.count), alignment: 1)
    buffer.copyBytes(from: content)
    bytes = UnsafeRawBufferPointer(rebasing: buffer[..<content.count])
  }

  deinit { bytes.deallocate() }
}
