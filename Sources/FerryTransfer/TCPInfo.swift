#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif
#endif

/// The kernel's counters of a TCP socket: `getsockopt(TCP_INFO)`, Linux only.
struct TCPInfo {
  /// Bytes sent, including retransmissions.
  var sent: Int64
  /// Bytes received in order, including unread bytes.
  var received: Int64
  /// Bytes written but not yet sent even once.
  var unsent: Int64
  /// The time since data was last received; `nil` if unknown.
  var sinceReceived: Duration?
  /// `false` before Linux 4.19, which reports acknowledged bytes instead of sent bytes.
  var isExact: Bool

  init(sent: Int64, received: Int64, unsent: Int64 = 0, isExact: Bool = true) {
    self.sent = sent
    self.received = received
    self.unsent = unsent
    self.isExact = isExact
  }

  /// `nil` if the socket is not a TCP socket, or if the system does not report its counters.
  init?(of descriptor: CInt) {
    #if os(Linux)
    let told = withUnsafeTemporaryAllocation(byteCount: Layout.size, alignment: 8) { buffer -> Self? in
      var length = socklen_t(Layout.size)
      guard getsockopt(descriptor, SOL_TCP, TCP_INFO, buffer.baseAddress, &length) == 0 else { return nil }
      return TCPInfo(UnsafeRawBufferPointer(rebasing: buffer[..<min(Int(length), Layout.size)]))
    }
    guard let told else { return nil }
    self = told
    #else
    return nil
    #endif
  }

  /// Reads `struct tcp_info`; an older kernel omits the end of it. Glibc's own declaration lacks these
  /// fields, and linux/tcp.h cannot be included together with it. The offsets are the same in all kernels.
  init?(_ bytes: UnsafeRawBufferPointer) {
    func word(_ offset: Int) -> Int64? {
      guard bytes.count >= offset + 8 else { return nil }
      return Int64(clamping: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    guard let acknowledged = word(Layout.bytesAcked), let received = word(Layout.bytesReceived) else {
      return nil
    }
    let sent = word(Layout.bytesSent)
    var unsent: Int64 = 0
    // Bytes that a reset discarded still occupy sequence numbers, but are never sent.
    if bytes.count >= Layout.notSentBytes + 4, bytes[Layout.state] != Layout.stateClosed {
      unsent = Int64(bytes.loadUnaligned(fromByteOffset: Layout.notSentBytes, as: UInt32.self))
    }
    self.init(sent: sent ?? acknowledged, received: received, unsent: unsent, isExact: sent != nil)
    let silence = bytes.loadUnaligned(fromByteOffset: Layout.lastDataReceived, as: UInt32.self)
    sinceReceived = .milliseconds(Int64(silence))
  }

  /// The offsets in linux/tcp.h's `struct tcp_info`.
  enum Layout {
    static let state = 0
    /// In milliseconds.
    static let lastDataReceived = 52
    /// Available since Linux 4.1.
    static let bytesAcked = 120
    static let bytesReceived = 128
    /// Available since Linux 4.6.
    static let notSentBytes = 144
    /// Available since Linux 4.19.
    static let bytesSent = 200
    /// The size of the part that is read here.
    static let size = 208

    /// `TCP_CLOSE`
    static let stateClosed: UInt8 = 7
  }
}
