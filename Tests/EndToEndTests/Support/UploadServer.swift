/// An upload server whose stored files a test can inspect.
protocol UploadServer: Sendable {
  var url: String { get }

  /// The server's origin, such as `http://127.0.0.1:PORT`. By default, it is the URL.
  var origin: String { get }

  /// The SHA-256 digests of the complete files on the server. If the server distinguishes several deliveries of a file,
  /// there is a digest for each.
  func delivered() async throws -> [String]

  /// Removes an unfinished upload, as if it had expired.
  ///
  /// - Parameter target: the path and query of a request for this upload.
  func forget(_ target: String) async throws

  /// The requests that the protocol forbids.
  func violations() async throws -> [String]

  func stop() async
}

extension UploadServer {
  var origin: String { url }

  func forget(_ target: String) async throws {
    throw CommandFailure(description: "this server has no uploads to remove")
  }

  func violations() async throws -> [String] { [] }

  /// Removes an upload with a request to the server itself.
  func delete(_ target: String, header: String) async throws {
    let words = ["--silent", "--show-error", "--fail", "--request", "DELETE", "--header", header]
    let command = try await Command.run("curl", words + [origin + target])
    guard command.status == 0 else {
      throw CommandFailure(description: "DELETE \(target): \(command.stderr)")
    }
  }
}
