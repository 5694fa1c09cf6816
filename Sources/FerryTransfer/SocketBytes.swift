/// Bytes that a loop's sockets have carried: TLS, header fields, HTTP/2's frames and what TCP sent again
/// included. The headers of TCP and IP are not, nor is the resolver's talk.
package struct SocketBytes: Hashable, Sendable {
  package var sent: Int64
  package var received: Int64
  /// Whether every socket told its bytes. Otherwise these are the bodies and header fields that libcurl
  /// saw, or what the sockets told, whichever is more.
  package var isExact: Bool

  package var total: Int64 { sent + received }

  package init(sent: Int64 = 0, received: Int64 = 0, isExact: Bool = true) {
    self.sent = sent
    self.received = received
    self.isExact = isExact
  }
}
