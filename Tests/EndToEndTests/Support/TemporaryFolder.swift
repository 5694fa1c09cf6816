import Foundation

/// A folder for one test, removed with the last reference to it.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "ferry-test-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // A folder that remains in the temporary folder does not fail the test.
    try? FileManager.default.removeItem(at: url)
  }

  /// The path of a file or folder in the folder.
  func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

  /// Creates a folder in it.
  func makeFolder(_ name: String) throws -> URL {
    let folder = url.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Writes a file in it, and creates the folders above the file.
  func write(_ data: Data, to name: String) throws {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  /// Creates an empty file in it, open for writing.
  func open(_ name: String) throws -> FileHandle {
    try Data().write(to: url.appending(path: name))
    return try FileHandle(forWritingTo: url.appending(path: name))
  }

  /// A file's content; empty if the file does not exist.
  func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: url.appending(path: name))) ?? Data(), as: UTF8.self)
  }
}
