import Foundation

/// A completely received body and its file on disk.
struct StoredContent: Sendable, Equatable {
  let file: URL
  /// In bytes.
  let size: Int
  /// In lowercase hexadecimal.
  let sha256: String

  /// Removes the bytes. A response that is reading them keeps them until it has ended.
  func discard() {
    // It does not matter if the file is already gone.
    try? FileManager.default.removeItem(at: file)
  }
}
