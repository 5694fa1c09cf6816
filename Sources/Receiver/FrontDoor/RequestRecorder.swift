import Foundation

/// Appends to a file all bytes that clients send, in the order of arrival.
///
/// The file shows the bytes that reached the server, regardless of the server's interpretation. The bytes of
/// concurrent connections are interleaved.
struct RequestRecorder: Sendable {
  private let file: Int32

  /// Opens the file for appending. A new file is readable only by its owner, because it will contain all
  /// secrets that clients send.
  init(_ url: URL) throws {
    let path = url.path(percentEncoded: false)
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemSocket.Failure.last("open \(path)") }
  }

  /// Returns false if the bytes could not be written.
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
