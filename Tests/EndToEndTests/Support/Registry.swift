import Foundation

/// Debian's docker-registry with token authentication, and the server that issues its tokens. scripts/registry runs
/// both.
///
/// Both are stopped when the last reference to this object is released, which closes the script's standard input.
final class Registry: Sendable {
  /// The required programs that are missing.
  static let missingPrograms = ["docker-registry", "python3", "openssl", "curl"]
    .filter { RunningCommand.find($0) == nil }

  let url: String
  let issuer: String
  private let folder: TemporaryFolder
  private let script: RunningCommand
  private let input: Pipe

  private init(folder: TemporaryFolder, script: RunningCommand, input: Pipe) async throws {
    self.folder = folder
    self.script = script
    self.input = input
    url = try await script.line(after: "FERRY_REGISTRY=")
    issuer = try await script.line(after: "FERRY_REGISTRY_ISSUER=")
  }

  deinit {
    script.signal(SIGTERM)
  }

  static func start() async throws -> Registry {
    let folder = try TemporaryFolder()
    let input = Pipe()
    let script = try RunningCommand(
      Product.source("scripts/registry"), [folder.url.path(percentEncoded: false)], input: input)
    return try await Registry(folder: folder, script: script, input: input)
  }

  /// Stops both servers, and waits until they have exited.
  func stop() async {
    script.signal(SIGTERM)
    _ = await script.end()
  }

  /// The environment variables that jobs/registry.yaml requires.
  var environment: [String: String] { ["FERRY_REGISTRY": url, "FERRY_REGISTRY_ISSUER": issuer] }

  /// The requests to which the registry has responded, as `METHOD PATH`, in order.
  var requests: [String] {
    folder.text("registry.log").split(separator: "\n").compactMap { line in
      // In the combined log format, the request is between the first two quotation marks. Other lines have `level=`.
      guard !line.hasPrefix("time=") else { return nil }
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      guard parts.count > 2 else { return nil }
      return parts[1].split(separator: " ").prefix(2).joined(separator: " ")
    }
  }

  /// Requests a token that allows reading a repository.
  func token(for repository: String) async throws -> String {
    struct Answer: Decodable { var token: String }
    let query = "service=ferry-test-registry&scope=repository:\(repository):pull"
    let answer = try await curl(["\(issuer)/token?\(query)"])
    return try JSONDecoder().decode(Answer.self, from: Data(answer.stdout.utf8)).token
  }

  /// Downloads the bytes of a blob.
  func blob(_ digest: String, in repository: String, token: String) async throws -> Data {
    let name = "blob-\(UUID().uuidString)"
    _ = try await curl([
      "--header", "Authorization: Bearer \(token)", "--output", folder.path(name),
      "\(url)/v2/\(repository)/blobs/sha256:\(digest)",
    ])
    return try Data(contentsOf: URL(filePath: folder.path(name)))
  }

  /// Runs curl so that an unsuccessful response causes an error.
  private func curl(_ arguments: [String]) async throws -> Command {
    let command = try await Command.run("curl", ["--silent", "--show-error", "--fail"] + arguments)
    guard command.status == 0 else { throw CommandFailure(description: "curl: \(command.stderr)") }
    return command
  }
}

extension Registry: UploadServer {
  private static let storage = "storage/docker/registry/v2"

  func delivered() async throws -> [String] {
    let blobs = folder.path("\(Self.storage)/blobs/sha256")
    let names = (FileManager.default.subpaths(atPath: blobs) ?? []).filter { $0.hasSuffix("/data") }
    guard !names.isEmpty else { return [] }
    return Array(try await TestFiles.digests(of: names, under: blobs).values)
  }

  /// Removes the folder of the upload, as the registry does when it purges uploads.
  func forget(_ target: String) async throws {
    guard let name = target.split(separator: "?").first?.split(separator: "/").last else { return }
    let uploads = folder.path("\(Self.storage)/repositories/ferry/files/_uploads")
    try FileManager.default.removeItem(atPath: "\(uploads)/\(name)")
  }
}
