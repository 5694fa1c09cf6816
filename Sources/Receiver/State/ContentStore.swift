import FerryDigest
import Foundation

/// Writes bodies to disk as they come, and computes their digests under way.
struct ContentStore: Sendable {
  private let folder: URL

  /// Creates `content/` in the directory.
  init(directory: URL) throws {
    folder = directory.appending(path: "content", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Receives a whole body into a file of its own.
  ///
  /// Throws ``RequestBody/CutShort`` where the connection ends before the body does. Whatever it throws, it
  /// leaves no file.
  func receive(_ body: inout RequestBody) async throws -> StoredContent {
    let file = folder.appending(path: UUID().uuidString.lowercased(), directoryHint: .notDirectory)
    var writer = try FileWriter(file)
    do {
      // After a failed write the rest of the body is still read, so that the answer can get through.
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
