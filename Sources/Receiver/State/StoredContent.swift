import Foundation

/// A completely received body and its file on disk.
struct StoredContent: Sendable, Equatable {
  let file: URL
  /// The size in bytes.
  let size: Int
  /// The SHA-256 digest in lowercase hexadecimal.
  let sha256: String

  /// Removes the file. A response that has already opened the file can still be sent completely.
  func discard() {
    // The file may already have been removed.
    try? FileManager.default.removeItem(at: file)
  }
}
