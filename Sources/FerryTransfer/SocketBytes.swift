/// Bytes that a loop's sockets have carried, including TLS, header fields, HTTP/2 frames and TCP
/// retransmissions. TCP and IP headers and the resolver's traffic are not included.
package struct SocketBytes: Hashable, Sendable {
  package var sent: Int64
  package var received: Int64
  /// Whether every socket reported its bytes. If not, the counts are the larger of two numbers: the bodies
  /// and header fields that libcurl saw, and what the sockets reported.
  package var isExact: Bool

  package var total: Int64 { sent + received }

  package init(sent: Int64 = 0, received: Int64 = 0, isExact: Bool = true) {
    self.sent = sent
    self.received = received
    self.isExact = isExact
  }
}
