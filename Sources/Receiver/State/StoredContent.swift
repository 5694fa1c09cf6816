import Foundation

/// A body that was received whole, and where it is on disk.
struct StoredContent: Sendable, Equatable {
  let file: URL
  /// In bytes.
  let size: Int
  /// In lowercase hexadecimal.
  let sha256: String

  /// Removes the bytes; an answer that is reading them keeps them until it has ended.
  func discard() {
    // A file that is gone already is as good as one that goes now.
    try? FileManager.default.removeItem(at: file)
  }
}
