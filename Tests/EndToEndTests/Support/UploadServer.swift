/// A server of uploads that can be asked for what it has stored.
protocol UploadServer: Sendable {
  var url: String { get }

  /// `http://127.0.0.1:PORT`; the URL if that is one.
  var origin: String { get }

  /// The SHA-256 digests of the files that it has completely, once for each delivery of a file that it can distinguish.
  func delivered() async throws -> [String]

  /// Removes an unfinished upload, as its expiry would.
  ///
  /// - Parameter target: the path and query of a request of this upload.
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

  /// Removes an upload by a request to the server itself.
  func delete(_ target: String, header: String) async throws {
    let words = ["--silent", "--show-error", "--fail", "--request", "DELETE", "--header", header]
    let command = try await Command.run("curl", words + [origin + target])
    guard command.status == 0 else {
      throw CommandFailure(description: "DELETE \(target): \(command.stderr)")
    }
  }
}
