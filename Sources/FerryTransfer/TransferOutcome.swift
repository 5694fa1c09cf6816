import FerryPlan

/// How one request ended. Every request that was started has exactly one.
package struct TransferOutcome: Sendable {
  package var id: UInt64
  package var result: Result<TransferResponse, TransportFailure>
  /// Over all redirects and resends.
  package var traffic: Traffic
  package var duration: Duration
  /// Of the file that was sent, or begun to be.
  package var inode: UInt64?
}

/// An HTTP response that is whole: its header section has ended, and its body as its framing says.
package struct TransferResponse: Sendable {
  package var status: Int
  /// In the order received; names as received, compared without regard to case.
  package var headers: [(name: String, value: String)]
  /// What `destination` kept in memory.
  package var body: [UInt8]
  /// Where the answer came from, redirects followed.
  package var url: String
  /// Of the file that was sent, where it was asked for: 32 bytes.
  package var sha256: [UInt8]?
  /// Why the request's `check` left a download's file as it was.
  package var refusal: String?
  /// The file that a download was stored in.
  package var storedFile: FileVersion?
  /// Which sensitive header fields were left out at `url`, and what would allow them; `nil` where all were sent.
  package var withheld: String?
  /// The body ended with the connection or stream, and cannot be told from one that was cut (RFC 9112, section 8).
  package var isCloseDelimited = false
  /// Codings of the body that the request did not accept.
  package var unrequestedCoding: String?

  /// The first field of this name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?
      .value
  }
}
