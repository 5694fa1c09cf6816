import Foundation

/// Reads standard input until it ends or the run is stopped.
enum StandardInput {
  /// The maximum time until a stop is detected, in milliseconds. Signals are handled on another thread, so they do
  /// not interrupt the read.
  private static let look: Int32 = 200

  /// Returns no bytes if the run was stopped, because the last path of a truncated list could name a different file.
  ///
  /// - Throws: `ListingFailure` if standard input cannot be read to its end, or is longer than a list may be.
  static func bytes(unless isStopped: () -> Bool) throws(ListingFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !isStopped() {
      var state = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      // After a timeout or a signal (EINTR), there may be nothing to read.
      guard poll(&state, 1, look) > 0 else { continue }
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else {
        throw ListingFailure(
          message: "cannot read the list from standard input: \(FileLister.reason(errno))")
      }
      guard count > 0 else { return bytes }
      guard bytes.count + count <= FileLister.largestList else {
        throw ListingFailure(
          message: "the list from standard input is larger than \(FileLister.largestList) bytes")
      }
      bytes += buffer[..<count]
    }
    return []
  }
}
