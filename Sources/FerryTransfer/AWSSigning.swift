import FerryDigest
import FerryPlan

/// The settings with which a request is signed (AWS Signature Version 4).
package struct AWSSigning: Sendable {
  package var credentials: AWSCredentials
  package var scope: AWSScope
  package var payload: Payload
  /// The time at which the request is started.
  package var date: Instant
  /// The part of the manifest that signs the request. It determines the known origins for the signature.
  package var owner: TransferRequest.HeaderField.Owner

  /// How the body of the request is covered by its signature.
  package enum Payload: Equatable, Sendable {
    /// The signature covers the body's SHA-256. If the body contains a file, the digest of the bytes to send
    /// is required.
    case signed(file: [UInt8]?)
    /// The signature does not cover the body (`UNSIGNED-PAYLOAD`).
    case unsigned
  }

  package init(
    credentials: AWSCredentials, scope: AWSScope, payload: Payload, date: Instant,
    owner: TransferRequest.HeaderField.Owner
  ) {
    self.credentials = credentials
    self.scope = scope
    self.payload = payload
    self.date = date
    self.owner = owner
  }

  /// The names of the sensitive values, for messages.
  private static let signature = "the signature"
  private static let sessionToken = "the session token"

  /// The sensitive fields of a signature, without their values.
  var placeholders: [TransferRequest.HeaderField] {
    sensitive(
      AWSSignature.Fields(
        authorization: "", date: "", payloadHash: "", sessionToken: credentials.sessionToken))
  }

  private func sensitive(_ fields: AWSSignature.Fields) -> [TransferRequest.HeaderField] {
    let authorization = TransferRequest.HeaderField(
      name: "Authorization", value: fields.authorization,
      sensitivity: .init(owner, values: [Self.signature], role: .signature))
    let token = fields.sessionToken.map {
      TransferRequest.HeaderField(
        name: "X-Amz-Security-Token", value: $0, sensitivity: .init(owner, values: [Self.sessionToken]))
    }
    return [authorization] + (token.map { [$0] } ?? [])
  }

  /// The header fields that sign a request.
  fileprivate func fields(
    _ hop: RedirectPolicy.Hop, _ url: String, _ payload: AWSSignature.Payload, after elapsed: Duration,
    _ keys: inout AWSSigningKeys
  ) throws(TransportFailure) -> [TransferRequest.HeaderField] {
    let request = AWSSignature(
      method: hop.method, url: url, headers: hop.headers.filter { $0.role != .queryToken },
      payload: payload,
      date: date.advanced(by: elapsed), scope: scope, credentials: credentials)
    guard let fields = request?.fields(&keys) else { throw EasyHandle.malformed("the URL cannot be signed") }
    return sensitive(fields) + [
      .init(name: "X-Amz-Date", value: fields.date),
      .init(name: "X-Amz-Content-Sha256", value: fields.payloadHash),
    ]
  }
}

/// AWS credentials, which are printed as `***`.
package struct AWSCredentials: Hashable, Sendable {
  package let accessKey: String
  let secretKey: String
  let sessionToken: String?

  package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The region and service for which a signature is valid.
package struct AWSScope: Hashable, Sendable {
  package let region: String
  package let service: String

  package init(region: String, service: String) {
    self.region = region
    self.service = service
  }
}

extension RedirectPolicy.Hop {
  /// Signs the hop if the request is signed and its signature may be sent to the hop's origin; otherwise removes the
  /// fields of the signature for the previous hop. A presigned URL is not signed, because S3 rejects two signatures.
  ///
  /// - Parameter elapsed: the time since the request was started.
  mutating func sign(
    _ request: TransferRequest, after elapsed: Duration, _ keys: inout AWSSigningKeys
  ) throws(TransportFailure) {
    guard let signing = request.signing else { return }
    let maySign = headers.contains { $0.role == .signature }
    headers.removeAll { AWSSignature.fieldNames.contains($0.name.lowercased()) }
    guard maySign, !AWSSignature.isPresigned(url) else { return }
    headers += try signing.fields(
      self, sentURL(of: request), Self.payload(request, signing, hasBody: hasBody), after: elapsed, &keys)
  }

  private static func payload(
    _ request: TransferRequest, _ signing: AWSSigning, hasBody: Bool
  ) -> AWSSignature.Payload {
    guard hasBody, request.body.isSent else { return .sha256(SHA256.hash([])) }
    guard case .signed(let file) = signing.payload else { return .unsigned }
    switch request.body {
    case .none: return .sha256(SHA256.hash([]))
    case .bytes(let bytes): return .sha256(SHA256.hash(bytes))
    case .file, .form: return file.map { .sha256($0) } ?? .unsigned
    }
  }
}
