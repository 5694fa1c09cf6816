import FerryDigest
import Foundation

/// Writes bodies to disk while they are received, and computes their digests at the same time.
struct ContentStore: Sendable {
  private let folder: URL

  /// Creates `content/` in the directory.
  init(directory: URL) throws {
    folder = directory.appending(path: "content", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Receives a whole body into a new file.
  ///
  /// Throws ``RequestBody/CutShort`` if the connection ends before the body does. If the method throws an
  /// error, no file remains.
  func receive(_ body: inout RequestBody) async throws -> StoredContent {
    let file = folder.appending(path: UUID().uuidString.lowercased(), directoryHint: .notDirectory)
    var writer = try FileWriter(file)
    do {
      // After a failed write, the rest of the body is still read, so that the response can be sent.
      var failure: (any Error)?
      try await body.read { piece in
        guard failure == nil else { return }
        do { try writer.write(piece) } catch { failure = error }
      }
      if let failure { throw failure }
      let digest = try writer.finish()
      return StoredContent(file: file, size: writer.size, sha256: digest.hexadecimal)
    } catch {
      writer.abandon()
      throw error
    }
  }
}
