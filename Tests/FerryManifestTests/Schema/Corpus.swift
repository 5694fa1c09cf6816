import FerryManifest
import Foundation

/// A collection of manifests in this repository, valid or invalid.
struct Corpus {
  struct Entry {
    /// The folder, and the file's name without its extension.
    var name: String
    var text: String
  }

  let entries: [Entry]

  /// `Tests/FerryManifestTests`.
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  static let package = folder.deletingLastPathComponent().deletingLastPathComponent()

  /// Many small manifests that together use every key in every form.
  static func good() throws -> Corpus {
    // The folder `good-apart` contains manifests that need other files, or to which no line can be appended.
    try Corpus(of: folder.appending(path: "Agreement/good"), folder.appending(path: "Agreement/good-apart"))
  }
  /// Manifests with one mistake each, and those with recorded diagnostics.
  static func bad() throws -> Corpus {
    try Corpus(of: folder.appending(path: "Agreement/bad"), folder.appending(path: "Golden"))
  }

  /// The environment variables that the manifests of jobs/ and examples/ require.
  static let environment = [
    "HOME": "/home/me", "FERRY_REGISTRY": "http://127.0.0.1:1", "FERRY_REGISTRY_ISSUER": "http://127.0.0.1:2",
  ]

  init(of folders: URL...) throws {
    entries = try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
        .sorted()
        .map { file in
          // One of the files in Golden is not UTF-8.
          let bytes = try Data(contentsOf: folder.appending(path: file))
          return Entry(
            name: "\(folder.lastPathComponent)/\(file.dropLast(5))",
            text: String(decoding: bytes, as: UTF8.self))
        }
    }
  }

  static func reading(of text: String) -> ManifestReading {
    let files = ManifestFiles { path throws(ManifestFiles.Unreadable) in
      guard path == "common.yaml" else { throw .init("there is only common.yaml") }
      return Array("name: photos\nsessions: { quick: {} }\n".utf8)
    }
    return ManifestReader(environment: environment, files: files).read(Array(text.utf8), file: "m.yaml")
  }

  /// A manifest as an editor with a JSON schema reads it; `nil` if it is not YAML.
  static func json(of text: String) -> OrderedJSON? {
    YAMLDocument(SourceText(Array(text.utf8), file: "m.yaml")).root.map(OrderedJSON.init)
  }
}
