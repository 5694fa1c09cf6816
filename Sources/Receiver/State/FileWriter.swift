import FerryDigest
import Foundation

/// Writes a new file sequentially, and determines its size and digest.
struct FileWriter {
  /// Pieces are collected up to this size, because FlyingFox delivers 4 KiB at a time.
  private static let gatherSize = 128 * 1024

  /// The number of bytes appended so far.
  private(set) var size: Int = 0
  private let url: URL
  private let file: Int32
  private let hash = SHA256()
  private var gathered = Data()
  private var isOpen = true

  init(_ url: URL) throws {
    self.url = url
    file = open(url.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure("open") }
  }

  mutating func write(_ piece: Data) throws {
    size += Int(piece.count)
    gathered.append(piece)
    if gathered.count >= Self.gatherSize { try flush() }
  }

  /// Writes the remaining bytes, closes the file, and returns the digest of its content.
  mutating func finish() throws -> [UInt8] {
    try flush()
    isOpen = false
    guard close(file) == 0 else { throw Self.failure("close") }
    return hash.finalize()
  }

  /// Closes and removes the file.
  mutating func abandon() {
    if isOpen { close(file) }
    isOpen = false
    unlink(url.path(percentEncoded: false))
  }

  private mutating func flush() throws {
    hash.update(gathered)
    try gathered.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.write(file, piece.baseAddress, piece.count)
        if count < 0 {
          if errno == EINTR { continue }
          throw Self.failure("write")
        }
        rest = rest.dropFirst(count)
      }
    }
    gathered.removeAll(keepingCapacity: true)
  }

  private static func failure(_ call: String) -> any Error {
    SystemSocket.Failure(call: call, code: errno)
  }
}
