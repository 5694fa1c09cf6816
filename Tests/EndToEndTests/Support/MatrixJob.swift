import Foundation
import Testing

/// A job that uploads one file to the server of a row of docs/servers.md, through the fault proxy.
final class MatrixJob: Sendable {
  let row: ServerRow
  let server: any UploadServer
  let proxy: FaultProxy
  let caddy: CaddyServer?
  let job: Workspace
  /// The SHA-256 of the file.
  let digest: String

  /// - Parameter faults: JSON objects that the proxy applies as faults.
  init(_ row: ServerRow, faults: [String] = []) async throws {
    self.row = row
    server = try await row.start()
    proxy = try await FaultProxy.start(
      before: server.origin, faults: faults.joined(separator: ", "), options: Self.options(row, server))
    caddy =
      if let protocols = row.caddy {
        try await CaddyServer.start(before: proxy.url, protocols: protocols)
      } else {
        nil
      }
    job = try Workspace(Self.manifest(row, server, url: caddy?.url ?? proxy.url))
    var random = SplitMix(seed: UInt64(row.name.utf8.reduce(0) { $0 + Int($1) }))
    try job.folder.write(random.bytes(row.size), to: "files/f")
    digest = try await TestFiles.digests(of: ["f"], under: job.folder.path("files"))["f"] ?? ""
  }

  /// A fault in a request that sends bytes of the file.
  ///
  /// - Parameters:
  ///   - number: the number of this request if the file is sent in parts.
  ///   - single: the number of this request if the file is sent in one request.
  static func fault(_ row: ServerRow, _ number: Int, single: Int = 1, _ fault: String) -> String {
    #"{"match": "\#(row.data)", "number": \#(row.part == nil ? single : number), \#(fault)}"#
  }

  private static func options(_ row: ServerRow, _ server: any UploadServer) -> String {
    // During the pause, ferry must receive the interim response that assigns the upload resource.
    let pause = "\"pause\": \(row.query == nil ? 0.1 : 1)"
    switch row.token {
    case .proxy(nil): return "{\(pause), \"token\": true}"
    case .proxy(let authorization?):
      return "{\(pause), \"token\": true, \"authorization\": \"\(authorization)\"}"
    case .issuer: return "{\(pause)}"
    case .accessKeys:
      return "{\(pause), \"credentials\": \((server as? any S3UploadServer)?.credentials ?? [])}"
    }
  }

  private static func manifest(_ row: ServerRow, _ server: any UploadServer, url: String) -> String {
    let request: String
    let apply: String
    let capture: String
    switch row.token {
    case .proxy:
      request = "{ method: POST, url: \"\(url)/token\" }"
      capture = "{ token: { json: /access_token, secret: true } }"
      apply = "{ header: Authorization, value: \"Bearer ${token.token}\" }"
    case .issuer(let issuer):
      request = "{ url: \"\(issuer(server))\" }"
      capture = "{ token: { json: /token, secret: true } }"
      apply = "{ header: Authorization, value: \"Bearer ${token.token}\" }"
    case .accessKeys:
      request = "{ method: POST, url: \"\(url)/token\" }"
      capture = "{ id: { json: /access_key }, secret: { json: /secret_key, secret: true } }"
      apply = "{ header: X-Login, value: \"${token.id}\" }"
    }
    return """
      version: 1
      name: matrix
      sessions: { s: { kind: background, max_connections_per_host: 1 } }
      tokens:
        login:
          session: s
          request: \(request)
          capture: \(capture)
          apply: \(apply)
          refresh: { on_status: [401, 403] }
      uploads:
        files:
          session: s
          token: login
          files: { root: files }
          retry: { limit: 5, initial: 10ms, max: 100ms }
      \(row.steps.replacing("URL", with: url))

      """
  }

  func start() throws -> RunningCommand {
    let words = ["run", "job.yaml", "--report", "report.json"]
    guard let caddy else { return try job.start(words) }
    return try TLSServer.start(job, words, trusting: caddy.certificate)
  }

  /// Runs the job to its end, and checks that it succeeds.
  @discardableResult func run(_ comment: String = "") async throws -> RunReport {
    let end = try await start().end()
    #expect(end.status == 0, "\(comment)\n\(end.stdout)\(end.stderr)\(proxy.log)")
    return try job.report()
  }

  /// The number of bytes that were sent to the server in requests with file content, including their framing.
  var sent: Int { proxy.bytes(row.data) }

  /// The number of uploads that were created, each by `creationsPerFile` requests.
  var creations: Int {
    guard let creation = row.creation else { return 0 }
    return (proxy.count(creation) + row.creationsPerFile - 1) / row.creationsPerFile
  }

  /// Checks that the server has stored the file once and unchanged.
  func expectDelivery() async throws {
    #expect(try await server.delivered() == [digest], "\(proxy.log)")
    if let completion = row.completion { #expect(proxy.successes(completion) == 1, "\(proxy.log)") }
    #expect(try await server.violations() == [])
  }

  func stop() async {
    await caddy?.stop()
    await server.stop()
  }
}
