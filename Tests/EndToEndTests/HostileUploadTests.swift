import Foundation
import Testing

/// Servers that attack uploads whose files are sent in several requests.
@Suite struct `A hostile server of uploads in parts` {
  typealias Response = ScriptedServer.Response

  private func job(
    _ server: ScriptedServer, _ transfer: String, top: String = "", _ files: [String: Int] = ["f": 1000]
  ) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: hostile
      sessions: { s: { max_connections_per_host: 2, timeout_for_request: 20s } }
      \(top)uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 2, initial: 10ms, max: 10ms }
          transfer: \(transfer.replacing("HOME", with: server.home))

      """)
    for (index, file) in files.sorted(by: { $0.key < $1.key }).enumerated() {
      try job.write(String(repeating: index == 0 ? "a" : "b", count: file.value), to: file.key)
    }
    return job
  }

  private func reason(_ report: RunReport, _ path: String = "f") -> String {
    report.items.first { $0.path == path }?.reason?.message ?? ""
  }

  // MARK: Upload resources

  /// If ferry accepted one of these URLs as that of the upload, releasing the upload would delete the
  /// collection.
  @Test(arguments: [
    "", "/files", "{home}/files", "{home}/files#x", "?", "/files?", "/%66iles", "/x/%2e%2e/files",
    "{home}/x/../files",
  ])
  func `cannot pass off the URL of the request as that of the upload`(_ location: String) async throws {
    let server = try await ScriptedServer.start([
      "/files": Response(status: 201, headers: ["Location": location]), "/": Response(status: 400),
    ])
    let job = try job(server, "{ protocol: tus, request: { url: HOME/files } }")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home POST /files"])
    #expect(reason(report).contains("is the URL of the request itself"))
  }

  @Test(arguments: ["", "/files/f", "{home}/files/f"])
  func `cannot let ferry delete the target of a resumable upload`(_ location: String) async throws {
    let server = try await ScriptedServer.start([
      "/files/f": Response(
        status: 201,
        headers: ["Location": location, "Upload-Complete": "?0", "Upload-Offset": "1000"])
    ])
    let job = try job(
      server, #"{ protocol: resumable, request: { method: PUT, url: "HOME/files/${file.name}" } }"#)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home PUT /files/f"])
    #expect(reason(report).contains("has not stated a usable URL of its upload resource"))
  }

  @Test(arguments: ["tus", "tus, creation: with_upload", "resumable"])
  func `cannot mix the bytes of two files`(_ transfer: String) async throws {
    let resource = Response(
      status: 201, headers: ["Location": "/up", "Upload-Complete": "?0", "Upload-Offset": "0"])
    let server = try await ScriptedServer.start([
      "/files": resource,
      // A server that treats every request for a part of the upload as the last one.
      "/up": Response(status: 200, headers: ["Upload-Offset": "1000", "Upload-Length": "1000"]),
    ])
    let job = try job(
      server, "{ protocol: \(transfer), request: { url: HOME/files } }", ["f": 1000, "g": 1000])
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done <= 1)
    #expect(report.items.contains { $0.reason?.message.contains("the same upload to another file") == true })
    let bodies = Set(server.requests.filter { $0.path == "/up" && !$0.body.isEmpty }.map(\.body))
    #expect(bodies.count <= 1)
    // The upload may belong to the other file.
    #expect(!server.lines.contains("home DELETE /up"))
  }

  @Test func `cannot move a file into the upload of another by the Location of a part`() async throws {
    func session(_ name: String) -> Response { Response(status: 201, headers: ["Location": "/up/\(name)"]) }
    let part = Response(status: 202, headers: ["Location": "/up/h", "Range": "0-262143"])
    let server = try await ScriptedServer.start([
      "/ids/f": session("f"), "/ids/g": session("g"), "/up/f": part, "/up/g": part,
      "/up/h": Response(status: 201),
    ])
    let job = try job(
      server,
      """
      { protocol: content_range, chunk_size: 256KiB, request: { method: PATCH, url: "${allocate.s}" } }
          allocate: { request: { url: "HOME/ids/${file.name}" }, capture: { s: { header: Location } } }
      """,
      ["f": 512 << 10, "g": 512 << 10])
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(report.items.contains { $0.reason?.message.contains("the same upload to another file") == true })
    #expect(server.requests.count { $0.path == "/up/h" } == 1)
  }

  @Test func `cannot let ferry delete an object by an empty upload ID`() async throws {
    let server = try await ScriptedServer.start([
      "/b/f?uploads": Response(status: 200, body: "<R><UploadId></UploadId></R>")
    ])
    let job = try job(
      server,
      #"{ protocol: s3_multipart, part_size: 500B, threshold: 500B, request: { url: "HOME/b/${file.name}" } }"#
    )
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home POST /b/f?uploads"])
    #expect(reason(report).contains("the UploadId in the response is empty"))
  }

  /// A proxy may respond in place of the server of the bucket.
  @Test(arguments: [true, false])
  func `cannot have a file count as delivered to S3 without an ETag`(inParts: Bool) async throws {
    let page = Response(status: 200, body: "<html>maintenance</html>")
    let server = try await ScriptedServer.start([
      "/b/f?uploads": Response(status: 200, body: "<R><UploadId>U</UploadId></R>"),
      "/b/f?partNumber=1&uploadId=U": page, "/b/f": page,
    ])
    let job = try job(
      server, "{ protocol: s3_multipart, threshold: \(inParts ? "1B" : "1MB"), request: { url: HOME/b/f } }")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    #expect(
      reason(report).contains("the response to \(inParts ? "a part" : "the file") has no valid ETag"),
      "\(reason(report))")
  }

  @Test(arguments: [true, false])
  func `cannot have a damaged file count as delivered`(inParts: Bool) async throws {
    // The SHA-256 of no bytes.
    let other = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let stored = Response(status: 200, headers: ["ETag": "\"e\"", "x-amz-checksum-sha256": other])
    let server = try await ScriptedServer.start([
      "/b/f?uploads": Response(status: 200, body: "<R><UploadId>U</UploadId></R>"),
      "/b/f?partNumber=1&uploadId=U": stored, "/b/f": stored,
      "/b/f?uploadId=U": Response(status: 200, body: "<R><ETag>e</ETag></R>"),
    ])
    let job = try job(
      server,
      "{ protocol: s3_multipart, checksum: sha256, threshold: \(inParts ? "1B" : "1MB"), request: { url: HOME/b/f } }"
    )
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    let puts = server.requests.filter { $0.method == "PUT" }
    #expect(puts.count == 3 && puts.allSatisfy { $0.body.count == 1000 })
    #expect(!server.lines.contains("home POST /b/f?uploadId=U"))
    #expect(
      reason(report).contains(
        "the x-amz-checksum-sha256 in the response is not that of the bytes that were sent"))
  }

  /// The server has stored other bytes, and states so in its list of the parts.
  @Test(arguments: [true, false])
  func `cannot have a damaged part count in another run`(isDamaged: Bool) async throws {
    // The SHA-256 of no bytes, and that of the file.
    let sha256 =
      isDamaged
      ? "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" : "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM="
    let page = """
      <R><UploadId>U</UploadId><ETag>e</ETag><Part><PartNumber>1</PartNumber><Size>1000</Size><ETag>e</ETag>\
      <ChecksumSHA256>\(sha256)</ChecksumSHA256></Part></R>
      """
    let server = try await ScriptedServer.start([
      "/b/f?uploads": Response(status: 200, body: "<R><UploadId>U</UploadId></R>"),
      "/b/f?partNumber=1&uploadId=U": Response(status: 503),
      "/b/f?uploadId=U": Response(status: 200, body: page),
    ])
    let job = try job(
      server, "{ protocol: s3_multipart, checksum: sha256, threshold: 1B, request: { url: HOME/b/f } }")
    #expect(try await job.run().command.status == 5)
    let before = server.requests.count { $0.method == "PUT" }
    let (command, report) = try await job.run()
    #expect(server.lines.contains("home GET /b/f?uploadId=U"))
    #expect((server.requests.count { $0.method == "PUT" } > before) == isDamaged)
    #expect(server.lines.contains("home POST /b/f?uploadId=U") == !isDamaged)
    #expect(command.status == (isDamaged ? 5 : 0), "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == (isDamaged ? 0 : 1))
  }

  // MARK: Offsets

  /// The URL is that of an earlier upload, and the server refuses the bytes. It does not have this file.
  @Test func `cannot have a file count as sent that it has refused`() async throws {
    let server = try await RawResponder.start([
      "/files": ["HTTP/1.1 201 X\r\nTus-Resumable: 1.0.0\r\nLocation: /u\r\nContent-Length: 0\r\n\r\n"],
      "/u": [
        "HTTP/1.1 409 X\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 X\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 1000\r\nUpload-Length: 1000\r\nContent-Length: 0\r\n\r\n",
      ],
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      sessions: { s: { timeout_for_request: 20s } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 2, initial: 10ms }
          transfer: { protocol: tus, request: { url: "\(server.url)/files" } }

      """)
    try job.write(String(repeating: "a", count: 1000), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("f")?.state == "ambiguous")
    #expect(reason(report).contains("the server states that it has 1000 bytes, but at most 0 were sent"))
  }

  /// A login page, for example of a captive portal, responds to the query after a part has failed.
  @Test func `cannot complete an upload of which only a part was sent`() async throws {
    let server = try await RawResponder.start([
      "/ids": ["HTTP/1.1 200 X\r\nLocation: /up\r\nContent-Length: 0\r\n\r\n"],
      "/up": [
        "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nlogin",
      ],
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      sessions: { s: { timeout_for_request: 20s } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 2, initial: 10ms, max: 10ms }
          allocate:
            request: { method: POST, url: "\(server.url)/ids" }
            capture: { u: { header: Location } }
          transfer: { protocol: content_range, chunk_size: 500B, request: { url: "${allocate.u}" } }

      """)
    try job.write(String(repeating: "a", count: 1000), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    #expect(reason(report) == "the server completed the upload after 500 of 1000 bytes")
  }

  @Test(arguments: ["tus", "resumable"])
  func `cannot receive a file once for each of its bytes`(_ transfer: String) async throws {
    let server = try await RawResponder.start([
      "/files": [
        "HTTP/1.1 201 X\r\nLocation: /up\r\nUpload-Complete: ?0\r\nUpload-Offset: 0\r\nContent-Length: 0\r\n\r\n"
      ],
      "/up": (1...400).map {
        "HTTP/1.1 204 X\r\nUpload-Offset: \($0)\r\nUpload-Complete: ?0\r\n\r\n"
      },
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      sessions: { s: { timeout_for_request: 20s } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 2, initial: 10ms, max: 10ms }
          transfer: { protocol: \(transfer), request: { url: "\(server.url)/files" } }

      """)
    try job.write(String(repeating: "a", count: 400), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    #expect(server.requests.count < 12)
  }

  // MARK: Budgets

  @Test(arguments: ["put", "multipart_form", "resumable", "tus"])
  func `cannot exceed a hard budget by redirects`(_ transfer: String) async throws {
    let chain = (0..<9).map { ("/\($0)", Response(status: 307, headers: ["Location": "{home}/\($0 + 1)"])) }
    var table = Dictionary(uniqueKeysWithValues: chain)
    table["/files"] = Response(status: 201, headers: ["Location": "/0"])
    let server = try await ScriptedServer.start(table)
    let job = try job(
      server,
      "{ protocol: \(transfer), request: { method: POST, url: HOME/\(transfer == "tus" ? "files" : "0") } }"
        .replacing(
          "method: POST, ", with: transfer == "tus" ? "" : "method: \(transfer == "put" ? "PUT" : "POST"), "),
      top: "budgets: { any: { limit: 250kB, per: month, cutoff: hard } }\n", ["f": 100_000])
    let (command, report) = try await job.run()
    #expect(command.status != 0 && report.totals.items.done == 0, "\(command.stdout)\(command.stderr)")
    #expect(server.requests.reduce(0) { $0 + $1.body.utf8.count } <= 250_000)
  }

  /// ferry responds to a challenge in the same request, but the server receives the body before it sends the challenge.
  @Test(arguments: ["Basic realm=x", "Digest realm=x, nonce=n, stale=true"], [300, 100_000])
  func `cannot exceed a hard budget by challenges`(_ challenge: String, size: Int) async throws {
    let server = try await ScriptedServer.start([
      "/f": Response(status: 401, headers: ["WWW-Authenticate": challenge])
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      budgets: { any: { limit: \(size + size / 2)B, per: month, cutoff: hard } }
      secrets: { password: { env: E2E_SECRET } }
      sessions: { s: { auth: { user: u, password: "${secrets.password}" } } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 0 }
          transfer: { request: { method: PUT, url: "\(server.home)/f" } }

      """)
    try job.write(String(repeating: "a", count: size), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("f")?.reason?.code == "budget_never")
    #expect(server.requests.reduce(0) { $0 + $1.body.utf8.count } == size)
  }

  @Test func `can redirect a file within a hard budget`() async throws {
    let server = try await ScriptedServer.start([
      "/0": Response(status: 307, headers: ["Location": "{home}/1"])
    ])
    let job = try job(
      server, "{ request: { url: HOME/0 } }",
      top: "budgets: { any: { limit: 350kB, per: month, cutoff: hard } }\n", ["f": 100_000])
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(server.lines == ["home PUT /0", "home PUT /0", "home PUT /1"])
  }
}
