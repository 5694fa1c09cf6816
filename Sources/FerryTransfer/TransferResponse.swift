import FerryPlan

/// A complete HTTP response: its header section and its body have ended, according to its framing.
///
/// This is a class, because it is passed on several times, and each copy of a struct would retain all of its values.
package final class TransferResponse: Sendable {
  package let status: Int
  /// The fields in the order received. Names are kept as received and compared case-insensitively.
  package let headers: [(name: String, value: String)]
  /// The reason phrase of the status line, or its first KiB; empty if there is none or the status is a success.
  package let reason: [UInt8]
  /// Whether the reason phrase is longer than `reason`.
  package let isReasonCut: Bool
  /// The part of the body that was kept in memory, according to the request's `destination`.
  package let body: [UInt8]
  /// Whether the received body is longer than `body`.
  package let isBodyCut: Bool
  /// The URL that the response came from, after redirects.
  package let url: String
  /// The SHA-256 digest of the sent file, 32 bytes; `nil` if it was not requested.
  package let sha256: [UInt8]?
  /// The reason why the request's `check` refused the download. The existing file was not changed.
  package let refusal: String?
  /// The file in which a download was stored.
  package let storedFile: FileVersion?
  /// The sensitive header fields that were withheld from `url`, and the setting that would allow them; `nil` if all
  /// were sent.
  package let withheld: String?
  /// The reason why the server's challenge was not met; `nil` if there is none.
  package let challengeProblem: String?
  /// Whether the body ended with the connection or stream. Such a body cannot be distinguished from a
  /// truncated one (RFC 9112, section 8).
  package let isCloseDelimited: Bool
  /// Content codings of the body that the request did not accept.
  package let unrequestedCoding: String?
  /// Whether the body is the rest of a document whose beginning an earlier request received.
  package let isContinued: Bool
  /// Whether the request asked for the rest of a document.
  package let askedForRest: Bool
  /// Whether the response refers the request to another URL, or is a challenge to which ferry can respond, although an
  /// interim response with a URL preceded it. The request was not sent again.
  package let isReferred: Bool

  package init(
    status: Int, headers: [(name: String, value: String)], reason: [UInt8] = [], isReasonCut: Bool = false,
    body: [UInt8], isBodyCut: Bool = false, url: String, sha256: [UInt8]? = nil, refusal: String? = nil,
    storedFile: FileVersion? = nil, withheld: String? = nil, challengeProblem: String? = nil,
    isCloseDelimited: Bool = false, unrequestedCoding: String? = nil, isContinued: Bool = false,
    askedForRest: Bool = false, isReferred: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.reason = reason
    self.isReasonCut = isReasonCut
    self.body = body
    self.isBodyCut = isBodyCut
    self.url = url
    self.sha256 = sha256
    self.refusal = refusal
    self.storedFile = storedFile
    self.withheld = withheld
    self.challengeProblem = challengeProblem
    self.isCloseDelimited = isCloseDelimited
    self.unrequestedCoding = unrequestedCoding
    self.isContinued = isContinued
    self.askedForRest = askedForRest
    self.isReferred = isReferred
  }

  /// The same response with another status or body.
  package func replacing(status: Int? = nil, body: [UInt8]? = nil) -> TransferResponse {
    TransferResponse(
      status: status ?? self.status, headers: headers, reason: reason, isReasonCut: isReasonCut,
      body: body ?? self.body, isBodyCut: isBodyCut, url: url, sha256: sha256, refusal: refusal,
      storedFile: storedFile, withheld: withheld, challengeProblem: challengeProblem,
      isCloseDelimited: isCloseDelimited, unrequestedCoding: unrequestedCoding, isContinued: isContinued,
      askedForRest: askedForRest, isReferred: isReferred)
  }

  /// The value of the first field with this name.
  package func header(_ name: String) -> String? {
    // By index, because a search over the fields would copy each of them.
    headers.indices.first { headers[$0].name.isField(named: name) }.map { headers[$0].value }
  }
}
