/// Bytes that a loop's sockets have carried, including TLS, header fields, HTTP/2 frames and TCP
/// retransmissions. TCP and IP headers and the resolver's traffic are not included.
package struct SocketBytes: Hashable, Sendable {
  package var sent: Int64
  package var received: Int64
  /// Whether every socket reported its bytes. If not, each count is the larger of two numbers: the size of
  /// the bodies and header fields counted by libcurl, and the bytes reported by the sockets.
  package var isExact: Bool

  package var total: Int64 { sent + received }

  package init(sent: Int64 = 0, received: Int64 = 0, isExact: Bool = true) {
    self.sent = sent
    self.received = received
    self.isExact = isExact
  }
}
