import Foundation

/// A tus server that is not part of this project: tuspyserver or tussi (`Servers/tus-server.py`).
///
/// It is stopped when the last reference to it is released.
final class TusServer: Sendable {
  /// The Python module that implements the server.
  enum Module: String, Sendable {
    case tuspyserver, tussi

    /// A Python that has the module and uvicorn.
    var python: String? {
      switch self {
      case .tuspyserver: TusServer.python
      case .tussi: TusServer.pythonWithTussi
      }
    }
  }

  /// A Python that has tuspyserver and uvicorn.
  static let python = PythonModules.python(with: ["tuspyserver", "uvicorn"])
  private static let pythonWithTussi = PythonModules.python(with: ["tussi", "uvicorn"])

  /// A complete upload.
  struct Upload: Decodable {
    /// The path of the file in which the server has stored the upload.
    var path: String
    var metadata: [String: String]
  }

  let url: String
  private let module: Module
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, module: Module, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.module, self.folder, self.process) = (url, module, folder, process)
  }

  deinit { process.signal(SIGKILL) }

  static func start(_ module: Module = .tuspyserver) async throws -> TusServer {
    guard let python = module.python else {
      throw CommandFailure(description: "no Python has \(module) and uvicorn")
    }
    let folder = try TemporaryFolder()
    let script = Product.source("Tests/EndToEndTests/Servers/tus-server.py")
    let process = try RunningCommand(python, ["-u", script, module.rawValue, folder.path("")])
    let port = try await process.line(after: "port ")
    return TusServer(
      url: "http://127.0.0.1:\(port)/files", module: module, folder: folder, process: process)
  }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  var complete: [Upload] {
    get throws {
      try folder.text("complete.jsonl").split(separator: "\n").map {
        try JSONDecoder().decode(Upload.self, from: Data($0.utf8))
      }
    }
  }

  /// The method and the status of each response, such as `PATCH 204`.
  var responses: [String] { folder.text("requests.log").split(separator: "\n").map(String.init) }
}

extension TusServer: UploadServer {
  var origin: String { String(url.dropLast("/files".count)) }

  func delivered() async throws -> [String] {
    // tuspyserver also reports partial uploads, which have no metadata.
    let paths = try complete.filter { !$0.metadata.isEmpty }.map(\.path)
    guard !paths.isEmpty else { return [] }
    let digests = try await TestFiles.digests(of: paths, under: "/")
    return paths.map { digests[$0] ?? "" }
  }

  func forget(_ target: String) async throws {
    switch module {
    case .tuspyserver: try await delete(target, header: "Tus-Resumable: 1.0.0")
    case .tussi:
      // The server does not implement the termination of uploads, so its files are removed.
      let name = target.split(separator: "/").last ?? ""
      for path in try FileManager.default.contentsOfDirectory(atPath: folder.path("uploads"))
      where path.contains(name) {
        try FileManager.default.removeItem(atPath: folder.path("uploads/\(path)"))
      }
    }
  }
}
