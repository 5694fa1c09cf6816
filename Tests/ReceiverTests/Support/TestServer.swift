import Foundation
import Receiver

/// A running receiver with its own folder, for the duration of one test.
struct TestServer {
  let server: ReceiverServer
  let port: UInt16
  let folder: URL

  /// Runs a test against a receiver with default settings.
  static func run(_ test: (TestServer) async throws -> Void) async throws {
    try await run({ _ in }, test)
  }

  /// Starts a receiver, runs a test against it, and stops the receiver even if the test throws an error.
  static func run(
    _ configure: (inout ReceiverConfiguration) -> Void,
    _ test: (TestServer) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "receiver-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
    // If this fails, the system removes the temporary folder later.
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = ReceiverConfiguration(directory: folder)
    configure(&configuration)
    let server = ReceiverServer(configuration)
    let port = try await server.start()
    do {
      try await test(TestServer(server: server, port: port, folder: folder))
      await server.stop()
    } catch {
      await server.stop()
      throw error
    }
  }

  func connect() throws -> TestConnection { try TestConnection(port: port) }

  /// Sends one request on a new connection.
  func request(
    _ method: String, _ path: String, headers: [String: String] = [:], body: Data = Data()
  ) async throws -> TestResponse {
    let connection = try connect()
    try await connection.send(Self.message(method, path, headers: headers, body: body))
    return try await connection.answer(to: method)
  }

  func request(
    _ method: String, _ path: String, headers: [String: String] = [:], text: String
  ) async throws -> TestResponse {
    try await request(method, path, headers: headers, body: Data(text.utf8))
  }

  /// The bytes of a request as a client sends them.
  static func message(
    _ method: String, _ path: String, headers: [String: String] = [:], body: Data = Data()
  ) -> Data {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.count)\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    return Data("\(head)\r\n".utf8) + body
  }

  /// Requests an upload ID, and returns the path of the upload.
  func allocate(_ name: String, size: Int? = nil) async throws -> String {
    let size = size.map { ",\"size\":\($0)" } ?? ""
    let answer = try await request("POST", "/uploads", text: "{\"name\":\"\(name)\"\(size)}")
    guard answer.status == 201, let location = answer["location"] else {
      throw TestResponse.Malformed(head: "\(answer.status) \(answer.text)")
    }
    return location
  }

  /// Requests an access token, and returns the header field that contains it.
  func bearer() async throws -> [String: String] {
    let answer = try await request("POST", "/oauth/token", text: "grant_type=client_credentials")
    return ["Authorization": "Bearer \(try answer.json(TestToken.self).token)"]
  }

  /// The upload with this name in the listing.
  func received(_ name: String) async throws -> Listing.Upload? {
    try await server.received().uploads.first { $0.name == name }
  }

  /// The files that hold received bytes.
  func contentFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: "content").path(percentEncoded: false))
  }
}
