import Foundation
import Testing

/// Uploads in shards that need requests and fetches of `setup`.
@Suite struct `Shards that need a request or fetch` {
  /// A job with the uploads `needy`, which needs `need`, and `other`, which needs nothing, and a request after `needy`.
  private func job(_ server: ScriptedServer, need: String, _ nodes: String, upload: String = "") throws
    -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { s: { kind: background }, e: { kind: ephemeral } }
      uploads:
        needy:
          session: s
          needs: [\(need)]
          \(upload)
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.home)/needy/${file.path}" } }
        other:
          session: s
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.home)/other/${file.path}" } }
      \(nodes)
        publish: { session: s, needs: [needy], request: { method: POST, url: "\(server.home)/publish" } }

      """)
    for number in 0..<8 { try job.write("\(number)", to: "f\(number)") }
    return job
  }

  private func job(_ server: ScriptedServer, fetch: String, upload: String = "", tokens: String = "") throws
    -> Workspace
  {
    try job(
      server, need: "cfg",
      """
      \(tokens)
      fetches:
        cfg: { \(fetch), request: { url: "\(server.home)/cfg" }, save_to: cfg.txt }
      requests:
      """, upload: upload)
  }

  private func part(_ job: Workspace, _ part: String) async throws -> Command {
    try await job.ferry("run", "job.yaml", "--shard", part)
  }

  private func expect(_ job: Workspace, _ status: Int32, _ parts: String...) async throws {
    for part in parts {
      let command = try await self.part(job, part)
      #expect(command.status == status, "\(part): \(command.stdout) \(command.stderr)")
    }
  }

  private func count(_ request: String, _ server: ScriptedServer) -> Int {
    server.lines.count { $0.hasPrefix("home \(request)") }
  }

  private static let open = "open: { session: s, request: { method: POST, url: "

  @Test func `run again after a request that they need was sent again, before finish continues`() async throws
  {
    let server = try await ScriptedServer.start(["/open": .init(status: 500, next: [.init(status: 200)])])
    let job = try job(server, need: "open", "requests:\n  \(Self.open)\"\(server.home)/open\" } }")
    try await expect(job, 1, "setup/2", "1/2")
    let skipped = try await part(job, "2/2")
    #expect(skipped.stdout.contains("upload needy: skipped"), "\(skipped.stdout)")
    // The request is in the state of `setup`.
    let printed = try #require(skipped.stdout.firstMatch(of: #/ferry (resolve open retry .*)/#)?.1)
    #expect(printed.contains("/once-of-2"), "\(printed)")
    // The name of the temporary folder contains no characters that the shell quotes.
    let resolved = try await job.start(printed.split(separator: " ").map(String.init)).end()
    #expect(resolved.status == 0, "\(resolved.stderr)")
    try await expect(job, 0, "setup/2")
    for (shard, reason) in [
      ("1/2", "shard 1/2 has skipped it and must be run again; 1 other shard is not ready"),
      ("2/2", "shard 2/2 has skipped it and must be run again"),
    ] {
      let early = try await part(job, "finish/2")
      #expect(early.status == 5 && early.stdout.contains("(\(reason))"), "\(early.stdout) \(early.stderr)")
      #expect(early.stdout.contains("next: run the shards that are not ready; then run: "), "\(early.stdout)")
      #expect(count("POST /publish", server) == 0)
      try await expect(job, 0, shard)
    }
    try await expect(job, 0, "finish/2")
    #expect(count("PUT /needy/", server) == 8 && count("POST /publish", server) == 1)
    #expect(try await job.ferry("report", "merge", job.state).status == 0)
  }

  @Test func `are not run again if a request that they need has failed`() async throws {
    let server = try await ScriptedServer.start(["/open": .init(status: 403)])
    let job = try job(server, need: "open", "requests:\n  \(Self.open)\"\(server.home)/open\" } }")
    try await expect(job, 1, "setup/2", "1/2", "2/2")
    let finish = try await part(job, "finish/2")
    #expect(finish.status == 1, "\(finish.stdout) \(finish.stderr)")
    #expect(finish.stdout.contains("upload needy: skipped, 8 not started"), "\(finish.stdout)")
    #expect(finish.stdout.contains("request publish: skipped"), "\(finish.stdout)")
    #expect(finish.stdout.contains("upload other: succeeded, 8 done"), "\(finish.stdout)")
    // The pass has ended, so another one begins.
    let again = try await part(job, "setup/2")
    #expect(again.status == 1 && count("POST /open", server) == 2, "\(again.stdout)")
  }

  @Test func `send what does not need a fetch that has failed and is not due`() async throws {
    let server = try await ScriptedServer.start(["/cfg": .init(status: 404)])
    let job = try job(server, fetch: "session: s, interval: { minimum: 1h }")
    for pass in 1...2 {
      try job.write("new", to: "pass\(pass)")
      try await expect(job, 1, "setup/2", "1/2", "2/2", "finish/2")
      #expect(count("PUT /other/pass\(pass)", server) == 1)
    }
    #expect(count("GET /cfg", server) == 1 && count("PUT /needy/", server) == 0)
    #expect(count("POST /publish", server) == 0)
  }

  @Test func `skip what needs a fetch that failed in the last pass`() async throws {
    let server = try await ScriptedServer.start(["/cfg": .init(status: 200, next: [.init(status: 404)])])
    let job = try job(server, fetch: "session: s")
    try await expect(job, 0, "setup/2", "1/2", "2/2", "finish/2")
    try job.write("new", to: "new")
    try await expect(job, 1, "setup/2", "1/2", "2/2", "finish/2")
    for shard in ["1/2", "2/2"] {
      // These runs belong to no pass.
      let command = try await part(job, shard)
      #expect(
        command.stdout.contains("fetch cfg: failed (the server responded with 404"), "\(command.stdout)")
      #expect(command.stdout.contains("upload needy: skipped"), "\(command.stdout)")
    }
    #expect(count("PUT /needy/new", server) == 0 && count("PUT /other/new", server) == 1)
  }

  @Test func `run although a fetch that they need is switched off and was never sent`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, fetch: "session: s, interval: never")
    let early = try await part(job, "1/2")
    #expect(early.status == 2 && early.stderr.contains("has not ended in this round"), "\(early.stderr)")
    try await expect(job, 0, "setup/2", "1/2", "2/2", "finish/2")
    #expect(count("PUT /needy/", server) == 8 && count("POST /publish", server) == 1)
  }

  /// Tokens have their own names.
  @Test func `do not confuse a token with an upload or a fetch that has the same name`() async throws {
    let token = """
      { session: s, request: { method: POST, url: "URL/token" }, capture: { access: { json: /token } }, \
      apply: { header: Authorization, value: "Bearer ${token.access}" } }
      """
    let server = try await ScriptedServer.start(["/token": .init(status: 200, body: #"{"token":"t"}"#)])
    let text = token.replacing("URL", with: server.home)
    let job = try job(
      server, fetch: "session: s, token: cfg, interval: { minimum: 1h }", upload: "token: needy",
      tokens: "tokens:\n  needy: \(text)\n  cfg: \(text)")
    for pass in 1...2 {
      try job.write("new", to: "pass\(pass)")
      try await expect(job, 0, "setup/2", "1/2", "2/2", "finish/2")
      #expect(count("POST /publish", server) == pass && count("PUT /needy/pass\(pass)", server) == 1)
    }
    #expect(count("GET /cfg", server) == 1)
  }

  @Test(arguments: ["run job.yaml --shard setup/2", "run job.yaml --shard 1/2", "plan job.yaml --shards 2"])
  func `cannot be divided if its outcome is not kept`(_ command: String) async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, fetch: "session: e")
    let end = try await job.start(command.split(separator: " ").map(String.init)).end()
    #expect(
      end.status == 2 && end.stderr.contains("fetch 'cfg' is in the session 'e' of kind 'ephemeral'")
        && end.stderr.contains("help: use 'kind: default'"), "\(end.stderr)")
    #expect(server.lines.isEmpty)
  }
}
