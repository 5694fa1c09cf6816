import FerryPlan

extension TransferLoop {
  /// All bytes that the loop's sockets have carried so far, including sockets that are already closed.
  ///
  /// The call queries the open sockets (one `getsockopt` each); nothing is counted in between. If a socket does not
  /// report its bytes, `isExact` is false and libcurl's counts are used if they are larger.
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
