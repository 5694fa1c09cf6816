import FerryTransfer

/// A request with every reference filled in, ready to become a `TransferRequest`.
package struct BuiltRequest: Sendable {
  package var method: String
  /// Absolute, http or https, percent-encoded.
  package var url: String
  package var headers: [TransferRequest.HeaderField]
  /// `none` or `bytes`; a file is put in by the caller.
  package var body: TransferRequest.Body
  /// What of the URL and the body is sensitive; header fields say so themselves.
  package var sensitive: SensitiveParts
}
