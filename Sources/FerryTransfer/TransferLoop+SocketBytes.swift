import FerryPlan

extension TransferLoop {
  /// All bytes transferred so far on the loop's sockets, including closed ones.
  ///
  /// The open sockets are queried when this property is read (one `getsockopt` each); nothing is counted in
  /// between. If a socket does not report its bytes, `isExact` is false and libcurl's counts are used if
  /// they are larger.
  package var socketBytes: SocketBytes {
    var bytes = sockets.bytes
    guard !bytes.isExact else { return bytes }
    var seen = endedTraffic
    seen += progress
    bytes.sent = max(bytes.sent, seen.bodySent + seen.headersSent)
    bytes.received = max(bytes.received, seen.bodyReceived + seen.headersReceived)
    return bytes
  }
}
