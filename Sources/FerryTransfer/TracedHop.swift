import FerryPlan

/// One request as it was sent, and its response. A request that is redirected has several hops.
package struct TracedHop: Sendable {
  /// The number of bytes that are kept of each body.
  package static let bodyLimit = 16 << 10
  /// The number of bytes that are kept of a header section.
  static let headLimit = 64 << 10

  /// The time from the start of this hop to the end of the whole request.
  package var age = Duration.zero
  package var method: String
  package var url: String
  /// The request line and header fields that libcurl sent, or their beginning; empty if nothing was sent.
  package var requestHead: [UInt8] = []
  /// The body, or its beginning, if it was in memory.
  package var requestBody: [UInt8] = []
  package var requestBodySize: Int64 = 0
  /// Body bytes sent.
  package var bodySent: Int64 = 0
  /// 0 without a response.
  package var status = 0
  package var reason: [UInt8] = []
  package var isReasonCut = false
  package var version = "HTTP/1.1"
  package var headers: [(name: String, value: String)] = []
  /// The number of bytes of all header sections received.
  package var headersReceived: Int64 = 0
  /// The part of the body that was kept in memory, at most `bodyLimit`.
  package var body: [UInt8] = []
  /// Whether the body, after decoding, is longer than `body`, or was not received completely.
  package var isBodyCut = false
  /// The number of body bytes received, before decoding.
  package var bodySize: Int64 = 0
  package var unrequestedCoding: String?
  package var phases = RequestPhases()
  /// The time from the start of the hop to the start of sending; `nil` if nothing was sent.
  package var sentAfter: Duration?
  /// The time from the start of sending to the last sent byte; `nil` if nothing was sent.
  package var send: Duration?
  package var total = Duration.zero
  /// The address of the server or proxy; `nil` if there was no connection.
  package var address: String?
  /// The port of ferry's end of the connection.
  package var localPort: UInt16?
  /// `host:port` of the proxy.
  package var proxy: String?
  /// The reason why there is no complete response.
  package var failure: TransportFailure?

  init(method: String, url: String) { (self.method, self.url) = (method, url) }
}

extension TracedHop {
  /// The response to the hop, for the rules that determine which of its parts may be shown.
  package var response: TransferResponse {
    TransferResponse(
      status: status, headers: headers, body: body, isBodyCut: isBodyCut, url: url,
      unrequestedCoding: unrequestedCoding)
  }
}
