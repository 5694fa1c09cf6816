import Foundation

/// Bytes that are written to the last one, to whatever an open descriptor is of.
package enum WholeWrite {
  /// - Returns: why they could not be written, as an error number; EPIPE where who reads has gone.
  package static func failure(of bytes: [UInt8], to descriptor: Int32) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A pipe that does not wait and is full.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      case let code: return code
      }
    }
    return nil
  }
}
