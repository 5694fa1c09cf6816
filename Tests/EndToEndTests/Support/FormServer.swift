import Foundation

/// A server that parses forms with aiohttp, which is not part of this project (`Servers/form-server.py`).
///
/// It is stopped when the last reference to it is released.
final class FormServer: Sendable {
  /// A Python that has aiohttp.
  static let python = PythonModules.python(with: ["aiohttp"])

  /// A form, as aiohttp parsed it.
  struct Form: Decodable {
    struct Part: Decodable {
      var name: String?
      var filename: String?
      var contentType: String?
      /// The bytes of the part's Content-Disposition field.
      var disposition: Data
      var size: Int
      var sha256: String
      /// The value of a field; `nil` for the file.
      var value: String?
    }

    var method: String
    var path: String
    var contentType: String
    var contentLength: Int
    var status: Int
    var authorization: String?
    var parts: [Part]

    var file: Part? { parts.first { $0.value == nil } }
    var boundary: String { String(contentType.split(separator: "=").last ?? "") }
  }

  struct Commit: Decodable {
    var id: String
    var form: Form
  }

  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.folder, self.process) = (url, folder, process)
  }

  deinit { process.signal(SIGKILL) }

  static func start() async throws -> FormServer {
    guard let python else { throw CommandFailure(description: "no Python has aiohttp") }
    let folder = try TemporaryFolder()
    let process = try RunningCommand(
      python, [Product.source("Tests/EndToEndTests/Servers/form-server.py"), folder.path("")])
    let port = try await process.line(after: "listening on ")
    return FormServer(url: "http://127.0.0.1:\(port)", folder: folder, process: process)
  }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// Changes settings of the server: `stop`, `token`, `status`, `forgotten`.
  func set(_ settings: String) throws {
    // The rename is atomic, so the server never reads an incomplete file.
    try folder.write(Data("{\(settings)}".utf8), to: "settings.new")
    guard rename(folder.path("settings.new"), folder.path("settings.json")) == 0 else {
      throw CommandFailure(description: "errno \(errno)")
    }
  }

  /// Waits until the server has stopped reading a form this number of times, as `stop` requires.
  func waitUntilStopped(_ count: Int = 1) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      if folder.text("stopped.jsonl").split(separator: "\n").count >= count { return }
      // The test polls, because the server writes to a file when it stops.
      try await Task.sleep(for: .milliseconds(10))
    }
    throw CommandFailure(description: "the server did not stop reading\n\(process.stderr)")
  }

  /// The forms that the server has parsed completely.
  var forms: [Form] { get throws { try lines("forms.jsonl") } }
  var commits: [Commit] { get throws { try lines("commits.jsonl") } }

  private func lines<Value: Decodable>(_ name: String) throws -> [Value] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try folder.text(name).split(separator: "\n").map {
      try decoder.decode(Value.self, from: Data($0.utf8))
    }
  }
}

extension FormServer: UploadServer {
  func delivered() async throws -> [String] { try commits.compactMap(\.form.file?.sha256) }
  func forget(_ target: String) async throws {
    try set("\"forgotten\": [\"\(target.split(separator: "/").last ?? "")\"]")
  }
}
