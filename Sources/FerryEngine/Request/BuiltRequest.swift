import FerryTransfer

/// A request with every reference resolved, ready for conversion to a `TransferRequest`.
package struct BuiltRequest: Sendable {
  package var method: String
  /// An absolute, percent-encoded http or https URL.
  package var url: String
  package var headers: [TransferRequest.HeaderField]
  /// `none` or `bytes`; a file is set by the caller.
  package var body: TransferRequest.Body
  /// The parts of a `multipart/form-data` body; `nil` for any other body.
  package var form: FormParts?
  /// The path of the file in the body of a request that is not a transfer; `nil` if there is none.
  package var bodyFile: String?
  /// The sensitive parts of the URL and the body. Header fields have their own flag.
  package var sensitive: SensitiveParts
  /// The signature to compute; `nil` for requests without a signature. The caller sets the digest of a file and the
  /// time.
  package var signing: AWSSigning?
  /// The credentials for challenges; `nil` for none.
  package var authentication: HTTPAuthentication?
  /// The checksum of the file in which the response is stored; `nil` for none.
  package var checksum: TransferRequest.Checksum?
  /// The encoded credentials of an OAuth 2.0 client, which must be masked; `nil` if the request has none.
  package var clientCredentials: String?
  /// The token in the query; `nil` if there is none.
  package var queryToken: QueryToken?
}
