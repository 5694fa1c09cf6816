import FerryPlan

/// Rejects requests that libcurl would accept but should not, or would misinterpret.
enum RequestCheck {
  /// Throws a failure with the code `request` if the request must not be sent.
  static func check(_ request: TransferRequest) throws(TransportFailure) {
    guard !request.method.isEmpty, request.method.allBytes(\.isToken), request.method != "CONNECT"
    else { throw EasyHandle.malformed("the method cannot be sent") }
    // Without a scheme, libcurl would guess one. A NUL would truncate libcurl's copy of the URL.
    guard isHTTP(request.url), request.url.allBytes({ $0 > 0x20 && $0 != 0x7F }) else {
      throw EasyHandle.malformed(
        "the URL is neither http nor https, or contains a character that must be encoded")
    }
  }

  private static func isHTTP(_ url: String) -> Bool {
    var bytes = url.utf8.makeIterator()
    for expected in "http".utf8 {
      guard let byte = bytes.next(), byte | 0x20 == expected else { return false }
    }
    var next = bytes.next()
    if let byte = next, byte | 0x20 == UInt8(ascii: "s") { next = bytes.next() }
    guard next == UInt8(ascii: ":"), bytes.next() == UInt8(ascii: "/") else { return false }
    return bytes.next() == UInt8(ascii: "/")
  }
}

extension String {
  /// Whether all bytes satisfy the condition. Reading a contiguous buffer is several times faster than iterating over
  /// `utf8`.
  func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
    utf8.withContiguousStorageIfAvailable { $0.allSatisfy(condition) } ?? utf8.allSatisfy(condition)
  }
}
