import FerryPlan

/// A complete HTTP response: its header section and its body have ended, according to its framing.
package struct TransferResponse: Sendable {
  package var status: Int
  /// The fields in the order received. Names are kept as received and compared case-insensitively.
  package var headers: [(name: String, value: String)]
  /// The reason phrase of the status line, or its first KiB; empty if there is none or the status is a success.
  package var reason: [UInt8] = []
  /// Whether the reason phrase is longer than `reason`.
  package var isReasonCut = false
  /// The part of the body that was kept in memory, according to the request's `destination`.
  package var body: [UInt8]
  /// Whether the received body is longer than `body`.
  package var isBodyCut = false
  /// The URL that the response came from, after redirects.
  package var url: String
  /// The SHA-256 digest of the sent file, 32 bytes; `nil` if it was not requested.
  package var sha256: [UInt8]?
  /// The reason why the request's `check` refused the download. The existing file was not changed.
  package var refusal: String?
  /// The file in which a download was stored.
  package var storedFile: FileVersion?
  /// The sensitive header fields that were withheld from `url`, and the setting that would allow them; `nil` if all
  /// were sent.
  package var withheld: String?
  /// The reason why the server's challenge was not met; `nil` if there is none.
  package var challengeProblem: String?
  /// Whether the body ended with the connection or stream. Such a body cannot be distinguished from a
  /// truncated one (RFC 9112, section 8).
  package var isCloseDelimited = false
  /// Content codings of the body that the request did not accept.
  package var unrequestedCoding: String?
  /// Whether the body is the rest of a document whose beginning an earlier request received.
  package var isContinued = false
  /// Whether the request asked for the rest of a document.
  package var askedForRest = false

  /// The value of the first field with this name.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.isField(named: name) }?
      .value
  }
}
