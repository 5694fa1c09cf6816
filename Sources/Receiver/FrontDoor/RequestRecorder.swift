import Foundation

/// Appends all that clients send to a file, byte for byte, in the order in which it arrived.
///
/// It shows what reached a server, whatever the server made of it. Two connections at once are mixed up in it.
struct RequestRecorder: Sendable {
  private let file: Int32

  /// Makes the file if it is missing, for its owner alone: it will hold whatever secrets are sent.
  init(_ url: URL) throws {
    let path = url.path(percentEncoded: false)
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemSocket.Failure.last("open \(path)") }
  }

  /// Returns false where the bytes could not be written.
  func record(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = write(file, piece.baseAddress, piece.count)
        if count < 0 {
          if errno == EINTR { continue }
          return false
        }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  func close() { _ = Foundation.close(file) }
}
