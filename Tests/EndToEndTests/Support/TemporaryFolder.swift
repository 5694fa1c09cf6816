import Foundation

/// A folder for one test, removed when the last reference to it is released.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "ferry-test-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // If this fails, the system removes the folder later.
    try? FileManager.default.removeItem(at: url)
  }

  /// The path of a file or folder in this folder.
  func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

  /// Creates a folder in this folder.
  func makeFolder(_ name: String) throws -> URL {
    let folder = url.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Writes a file in this folder, and creates the file's parent folders.
  func write(_ data: Data, to name: String) throws {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  /// Creates an empty file in this folder, and opens it for writing.
  func open(_ name: String) throws -> FileHandle {
    try Data().write(to: url.appending(path: name))
    return try FileHandle(forWritingTo: url.appending(path: name))
  }

  /// A file's content; empty if the file does not exist.
  func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: url.appending(path: name))) ?? Data(), as: UTF8.self)
  }
}
