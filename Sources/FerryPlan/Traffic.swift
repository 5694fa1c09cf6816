/// The bytes that one or more requests transferred.
package struct Traffic: Hashable, Codable, Sendable {
  /// The size of request and response bodies as seen by the application.
  package var bodySent: Int64
  /// The part of a request body around a file: the fields and boundaries of a form. It is not part of `bodySent`.
  package var framingSent: Int64
  package var bodyReceived: Int64
  /// Request lines and header fields.
  package var headersSent: Int64
  package var headersReceived: Int64

  package init(
    bodySent: Int64 = 0, framingSent: Int64 = 0, bodyReceived: Int64 = 0, headersSent: Int64 = 0,
    headersReceived: Int64 = 0
  ) {
    self.bodySent = bodySent
    self.framingSent = framingSent
    self.bodyReceived = bodyReceived
    self.headersSent = headersSent
    self.headersReceived = headersReceived
  }

  /// All transferred bytes.
  package var total: Int64 { bodySent +| framingSent +| bodyReceived +| headersSent +| headersReceived }

  package static func += (a: inout Traffic, b: Traffic) {
    a.bodySent +|= b.bodySent
    a.framingSent +|= b.framingSent
    a.bodyReceived +|= b.bodyReceived
    a.headersSent +|= b.headersSent
    a.headersReceived +|= b.headersReceived
  }
}
