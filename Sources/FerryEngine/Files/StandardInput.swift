import Foundation

/// The standard input, read to its end unless the run is stopped meanwhile.
enum StandardInput {
  /// A signal is no end of the read, whose handler runs on another thread: so long it may wait to be seen.
  private static let look: Int32 = 200

  /// Nothing where the run was stopped: a list that is cut off may name other files.
  ///
  /// - Throws: where it cannot be read to its end, for the same reason.
  static func bytes(unless isStopped: () -> Bool) throws(ListingFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !isStopped() {
      var state = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      // A signal ends the wait with EINTR: there may be nothing to read then.
      guard poll(&state, 1, look) > 0 else { continue }
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else {
        throw ListingFailure(
          message: "cannot read the list from the standard input: \(FileLister.reason(errno))")
      }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
    return []
  }
}
