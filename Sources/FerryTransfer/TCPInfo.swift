#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif
#endif

/// What the kernel tells of a TCP socket: `getsockopt(TCP_INFO)`, Linux alone.
struct TCPInfo {
  /// Bytes that went out; those sent again count again.
  var sent: Int64
  /// Bytes that came in order, read from the socket or not.
  var received: Int64
  /// Bytes that were written and have not gone out once.
  var unsent: Int64
  /// `false` before Linux 4.19, which tells what was acknowledged in place of what was sent.
  var isExact: Bool

  init(sent: Int64, received: Int64, unsent: Int64 = 0, isExact: Bool = true) {
    self.sent = sent
    self.received = received
    self.unsent = unsent
    self.isExact = isExact
  }

  /// `nil` for a socket that is not TCP's, and for a system that does not tell.
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

  /// Reads `struct tcp_info`, whose end an older kernel leaves out. Glibc's own declaration of it lacks
  /// these fields, and linux/tcp.h cannot be included beside that one; no kernel moves them.
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
    // What a reset threw away keeps its place in the sequence, and never goes out.
    if bytes.count >= Layout.notSentBytes + 4, bytes[Layout.state] != Layout.stateClosed {
      unsent = Int64(bytes.loadUnaligned(fromByteOffset: Layout.notSentBytes, as: UInt32.self))
    }
    self.init(sent: sent ?? acknowledged, received: received, unsent: unsent, isExact: sent != nil)
  }

  /// Offsets of linux/tcp.h's `struct tcp_info`.
  enum Layout {
    static let state = 0
    /// Since Linux 4.1, both.
    static let bytesAcked = 120
    static let bytesReceived = 128
    /// Since Linux 4.6.
    static let notSentBytes = 144
    /// Since Linux 4.19.
    static let bytesSent = 200
    /// As far as anything here is read.
    static let size = 208

    /// `TCP_CLOSE`
    static let stateClosed: UInt8 = 7
  }
}
