import FerryPlan

extension TransferLoop {
  /// Everything that the loop's sockets have carried so far, those included that are closed since.
  ///
  /// Open sockets are asked at the call (one `getsockopt` each), and nothing is counted in between. Where
  /// one of them does not tell, it is what libcurl saw; `isExact` says so.
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
