import FerryPlan

/// An interim response (1xx) to a request that has not ended.
package struct InterimResponse: Sendable {
  package var id: UInt64
  package var response: TransferResponse

  package init(id: UInt64, response: TransferResponse) {
    self.id = id
    self.response = response
  }
}

/// The end of one request. Every started request has exactly one outcome.
///
/// This is a class, because it is passed on several times, and each copy of a struct would retain dozens of values.
package final class TransferOutcome {
  package var id: UInt64
  package var result: Result<TransferResponse, TransportFailure>
  /// The traffic over all redirects and resends.
  package var traffic: Traffic
  /// The bytes of the file that the last request has sent, including resends, but not those sent before redirects; `nil` for
  /// a request that was not started.
  package var sentInLastHop: Int64?
  /// Those of them that were sent before the request was resent on another connection.
  package var sentBeforeResend: Int64 = 0
  package var duration: Duration
  /// The URL of the last request, after redirects; `nil` if no request was started.
  package var url: String?
  /// The method of the last request; `nil` if no request was started.
  package var method: String?
  /// `host:port` of the proxy for the last request; `nil` if there is none, or if the response is a success.
  package var proxy: String?
  /// The inode of the name of the file that was sent completely or in part, as
  /// `stat.entryInode(beneath:)` returns it.
  package var inode: UInt64?
  /// If the request failed after its whole body had been sent: the SHA-256 of the file in it, if it was requested.
  package var sentSHA256: [UInt8]?
  /// The state of a download's part after the request; `nil` if there is none.
  package var part: PartProgress?
  /// The URL of the last request, if a redirect led to it; otherwise `nil`.
  package var redirectedTo: String?
  /// The phases of the request, over all hops; `nil` if no request was started.
  package var phases: RequestPhases?
  /// The connections that a download was to use; `nil` if it was not to use several.
  package var segments: SegmentUse?
  /// If the loop traces requests: each request on the wire, in order.
  package var hops: [TracedHop] = []

  package init(
    id: UInt64, result: Result<TransferResponse, TransportFailure>, traffic: Traffic, duration: Duration,
    url: String? = nil
  ) {
    self.id = id
    self.result = result
    self.traffic = traffic
    self.duration = duration
    self.url = url
  }
}
