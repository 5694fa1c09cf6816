import Foundation
import Testing

/// A row of the table in docs/servers.md: a protocol and a server, and the properties that the tests need.
struct ServerRow: Sendable, CustomTestStringConvertible {
  /// The source of the token that authorizes ferry's uploads.
  enum Token: Sendable {
    /// The proxy issues bearer tokens. It forwards this value of `Authorization` to the server, or none.
    case proxy(authorization: String? = nil)
    /// The server's own token issuer, at this URL.
    case issuer(@Sendable (any UploadServer) -> String)
    /// The proxy returns access keys of the server. ferry signs its requests with them.
    case accessKeys
  }

  /// How much of a file is sent again after an interruption.
  enum Resumption: Sendable {
    /// The server keeps every byte that it has received, even within a part.
    case byte
    /// The server keeps only complete parts.
    case part
    /// The file is sent again from its start.
    case none
  }

  /// The first two cells of the row, in plain text.
  let name: String
  let isPossible: Bool
  let start: @Sendable () async throws -> any UploadServer
  /// The HTTP versions that Caddy offers in front of the server; `nil` without Caddy.
  var caddy: String?
  var token = Token.proxy()
  /// The steps of the upload, with each line indented by four spaces. `URL` is a placeholder for the server's URL.
  var steps: String
  let size: Int
  /// The size of a part; `nil` if the file is sent in one request.
  let part: Int?
  /// A pattern of the requests that send bytes of the file, as `METHOD TARGET`.
  let data: String
  /// A pattern of the requests that create an upload; `nil` if the protocol has no upload IDs.
  let creation: String?
  /// The number of requests that create uploads for one file.
  var creationsPerFile = 1
  /// A pattern of the requests whose success delivers a file; `nil` if only the server's state shows a delivery.
  var completion: String?
  var resumption: Resumption
  /// Whether the server ends an upload when a request that sends its bytes is aborted.
  var endsBrokenUploads = false
  /// A pattern of the first request with the upload ID, if the request that sends the first bytes has none.
  var query: String?
  /// Whether an upload must be removed between two runs, because the server would otherwise fail with 500.
  var isForgottenBetweenRuns = false

  var testDescription: String { name }

  var parts: Int { part.map { (size + $0 - 1) / $0 } ?? 1 }

  /// The rows whose servers are available. For every other row, a message is printed, because an unnoticed skip would
  /// look like a pass.
  static let possible: [ServerRow] = all.filter { row in
    if row.isPossible { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the row '\(row.name)' of docs/servers.md; run scripts/setup test\n\n".utf8))
    return false
  }

  static let all: [ServerRow] =
    [
      put("nginx", NginxServer.isPossible) { try await NginxServer.start() },
      put(
        "Apache", ApacheServer.missingPrograms.isEmpty,
        token: .proxy(authorization: "Basic " + Data(ApacheServer.login.utf8).base64EncodedString())
      ) { try await ApacheServer.start() },
      put("Caddy (HTTP/2), nginx", NginxServer.isPossible && CaddyServer.isPossible, caddy: "h1 h2") {
        try await NginxServer.start()
      },
      monolithic, registry, sessions,
      tus("tuspyserver", TusServer.python != nil) { try await TusServer.start() },
      tus("Caddy (HTTP/1.1), tuspyserver", TusServer.python != nil && CaddyServer.isPossible, caddy: "h1") {
        try await TusServer.start()
      },
      tus("Caddy (HTTP/2), tuspyserver", TusServer.python != nil && CaddyServer.isPossible, caddy: "h1 h2") {
        try await TusServer.start()
      },
      tus("tussi", TusServer.Module.tussi.python != nil, resumption: .part) {
        try await TusServer.start(.tussi)
      },
      concatenation,
      tus("strict-tus-server.py", true, part: nil) { try await StrictTusServer.start() },
      resumable("resumable-server.py", true),
      resumable("Caddy (HTTP/2), resumable-server.py", CaddyServer.isPossible, caddy: "h1 h2"),
      s3("moto", S3Server.isPossible, isForgottenBetweenRuns: true) { try await S3Server.start() },
      s3("rclone", RcloneServer.isPossible) { try await RcloneServer.start() },
      form,
    ]

  private static let chunk = 512 << 10

  private static func put(
    _ server: String, _ isPossible: Bool, caddy: String? = nil, token: Token = .proxy(),
    _ start: @escaping @Sendable () async throws -> any UploadServer
  ) -> ServerRow {
    ServerRow(
      name: "put | \(server)", isPossible: isPossible, start: start, caddy: caddy, token: token,
      steps: """
            transfer: { request: { method: PUT, url: "URL/${file.path}" } }
        """,
      size: 4_000_077, part: nil, data: "^PUT ", creation: nil, completion: "^PUT ", resumption: .none)
  }

  private static let monolithic = ServerRow(
    name: "put | docker-registry", isPossible: Registry.missingPrograms.isEmpty,
    start: { try await Registry.start() }, token: .issuer(issuer),
    steps: """
          allocate:
            request: { method: POST, url: "URL/v2/ferry/files/blobs/uploads/" }
            capture: { location: { header: Location } }
          transfer:
            request:
              method: PUT
              url: "${allocate.location}&digest=sha256:${file.sha256}"
              headers: { Content-Type: application/octet-stream }
      """,
    size: 4_000_077, part: nil, data: "^PUT ", creation: "^POST ", completion: "^PUT ", resumption: .none,
    endsBrokenUploads: true)

  private static let registry = ServerRow(
    name: "content_range | docker-registry", isPossible: Registry.missingPrograms.isEmpty,
    start: { try await Registry.start() }, token: .issuer(issuer),
    steps: """
          allocate:
            request: { method: POST, url: "URL/v2/ferry/files/blobs/uploads/" }
            capture: { location: { header: Location } }
          transfer:
            protocol: content_range
            chunk_size: 512KiB
            request:
              method: PATCH
              url: ${allocate.location}
              headers: { Content-Type: application/octet-stream }
            capture: { location: { header: Location } }
          commit:
            request: { method: PUT, url: "${transfer.location}&digest=sha256:${file.sha256}" }
      """,
    size: 4 * chunk + 77, part: chunk, data: "^PATCH ", creation: "^POST ", completion: "^PUT ",
    resumption: .none, endsBrokenUploads: true)

  private static func issuer(_ server: any UploadServer) -> String {
    let issuer = (server as? Registry)?.issuer ?? ""
    return "\(issuer)/token?service=ferry-test-registry&scope=repository:ferry/files:pull,push"
  }

  private static let sessions = ServerRow(
    name: "content_range | SessionServer.swift", isPossible: true,
    start: { try await SessionServer.start() },
    steps: """
          allocate:
            request: { method: POST, url: "URL/google" }
            capture: { session: { header: Location } }
          transfer:
            protocol: content_range
            chunk_size: 512KiB
            request: { url: "${allocate.session}" }
      """,
    size: 4 * chunk + 77, part: chunk, data: "^PUT ", creation: "^POST /google", resumption: .byte)

  private static func tus(
    _ server: String, _ isPossible: Bool, part: Int? = chunk, size: Int = 4 * chunk + 77,
    resumption: Resumption = .byte, caddy: String? = nil,
    _ start: @escaping @Sendable () async throws -> any UploadServer
  ) -> ServerRow {
    // tuspyserver responds to a HEAD with 400 if the metadata lacks these two pairs.
    ServerRow(
      name: "tus | \(server)", isPossible: isPossible, start: start, caddy: caddy,
      steps: """
            transfer:
              protocol: tus
              metadata: { filename: "${file.name}", filetype: text/plain }
              request: { url: "URL/files\(part == nil ? "" : "/")" }
        \(part == nil ? "" : "      chunk_size: 512KiB\n")
        """,
      size: part == nil ? 4_000_077 : size, part: part, data: "^PATCH ", creation: "^POST /files",
      resumption: resumption)
  }

  /// Two partial uploads, and a request that concatenates them.
  private static let concatenation: ServerRow = {
    var row = tus("tuspyserver (parallel_parts: 2)", TusServer.python != nil, size: 4 * chunk) {
      try await TusServer.start()
    }
    row.steps += "      parallel_parts: 2\n      threshold: 1MB\n"
    row.creationsPerFile = 3
    return row
  }()

  private static func resumable(_ server: String, _ isPossible: Bool, caddy: String? = nil) -> ServerRow {
    ServerRow(
      name: "resumable | \(server)", isPossible: isPossible, start: { try await ResumableServer.start() },
      caddy: caddy,
      steps: """
            transfer: { protocol: resumable, request: { method: POST, url: "URL/made" } }
        """,
      // The file is larger than the socket buffers. With a smaller file, ferry could not determine that the server does
      // not have all of it.
      size: 12_000_077, part: nil, data: "^(POST /made|PATCH )", creation: "^POST /made",
      resumption: .byte, query: "^HEAD ")
  }

  private static func s3(
    _ server: String, _ isPossible: Bool, isForgottenBetweenRuns: Bool = false,
    _ start: @escaping @Sendable () async throws -> any UploadServer
  ) -> ServerRow {
    ServerRow(
      name: "s3_multipart | \(server)", isPossible: isPossible, start: start, token: .accessKeys,
      steps: """
            transfer:
              protocol: s3_multipart
              part_size: 5MiB
              threshold: 6MiB
              sign: { aws_v4: { region: us-east-1, access_key: "${token.id}", secret_key: "${token.secret}" } }
              request: { url: "URL/photos/${file.path}" }
        """,
      size: 12 << 20, part: 5 << 20, data: "partNumber=", creation: "^POST .*uploads",
      completion: "^POST .*uploadId=", resumption: .part, isForgottenBetweenRuns: isForgottenBetweenRuns)
  }

  private static let form = ServerRow(
    name: "multipart_form | aiohttp", isPossible: FormServer.python != nil,
    start: { try await FormServer.start() },
    steps: """
          allocate: { request: { method: POST, url: "URL/ids" }, capture: { id: { json: /id } } }
          transfer:
            protocol: multipart_form
            form: { file: { field: photo } }
            request: { url: "URL/forms/${allocate.id}" }
          commit:
            request: { method: POST, url: "URL/commit/${allocate.id}" }
            idempotency_key: { header: Idempotency-Key }
      """,
    size: 4_000_077, part: nil, data: "^POST /forms/", creation: "^POST /ids", completion: "^POST /commit/",
    resumption: .none)
}
