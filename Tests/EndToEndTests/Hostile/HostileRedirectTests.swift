import Foundation
import Testing

/// A server that redirects requests to another server, which records them.
@Suite struct `A redirect to another origin` {
  /// The part of the request that contains the secret.
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case form, json, header, query, sessionHeader, token

    var testDescription: String { rawValue }

    /// A manifest's sections with the single request `tell`, or with a token request.
    func nodes(_ secret: String) -> String {
      let request = "method: PUT, url: \"${vars.api}/files/a\""
      let token = """
        tokens:
          login:
            session: quick
            request: { method: POST, url: "${vars.api}/oauth/token", form: { grant_type: client_credentials } }
            capture: { access_token: { json: /access_token, secret: true } }
            apply: { header: Authorization, value: "Bearer ${token.access_token}" }

        """
      let text =
        switch self {
        case .form: "\(request), form: { key: \"\(secret)\" }"
        case .json: "\(request), json: { key: \"\(secret)\" }"
        case .header: "\(request), headers: { X-Key: \"\(secret)\" }, json: { a: 1 }"
        case .query: "method: PUT, url: \"${vars.api}/files/a?key=\(secret)\", json: { a: 1 }"
        case .sessionHeader, .token: "\(request), json: { a: 1 }"
        }
      return (self == .token ? token : "")
        + "requests:\n  tell:\n    session: quick\n    request: { \(text) }\n    \(HostileJob.noRetry)\n"
        + (self == .token ? "    token: login\n" : "")
    }
  }

  @Test(arguments: Place.allCases, [307, 308])
  func `gets no secret, wherever the request holds it`(_ place: Place, _ status: Int) async throws {
    let other = try await ReceiverProcess.start(isRecording: true)
    let receiver = try await ReceiverProcess.start(isRecording: true)
    try await receiver.add(
      spec: "file:response=redirect,status=\(status),location=\(other.url)/files/stolen")
    let hostile = try HostileJob(receiver, place.nodes("${secrets.client_secret}"))
    if place == .sessionHeader {
      let text = hostile.job.folder.text("job.yaml")
      try hostile.job.write(
        manifest: text.replacing(
          "  quick:\n", with: "  quick:\n    headers: { X-Key: \"${secrets.client_secret}\" }\n"))
    }
    let (command, report) = try await hostile.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("tell")?.reason?.code == "redirect", "\(report.node("tell")?.reason?.message ?? "")")
    // The first server received the secret. This shows that the request contained it and that the receivers record
    // correctly.
    if place == .token {
      #expect(receiver.recorded.range(of: Data("Bearer ".utf8)) != nil)
    } else {
      #expect(!SecretForms.found(Workspace.secret, in: receiver.recorded).isEmpty)
    }
    #expect(String(decoding: other.recorded, as: UTF8.self) == "")
    let value = place == .token ? "token.access_token" : "secrets.client_secret"
    #expect(
      report.node("tell")?.reason?.message.contains(value) == true,
      "\(report.node("tell")?.reason?.message ?? "")")
  }

  @Test func `gets a request that holds no secret`() async throws {
    let other = try await ReceiverProcess.start(isRecording: true)
    let receiver = try await ReceiverProcess.start(
      faults: ["file:response=redirect,location=\(other.url)/files/moved"])
    let hostile = try HostileJob(receiver, Place.json.nodes("nothing secret"))
    let (command, _) = try await hostile.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(String(decoding: other.recorded, as: UTF8.self).contains("nothing secret"))
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `gets no client secret of a token's request`(_ status: Int) async throws {
    let other = try await ReceiverProcess.start(isRecording: true)
    let receiver = try await ReceiverProcess.start(
      faults: ["token:response=redirect,status=\(status),location=\(other.url)/oauth/token"])
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.uploadIDs()).replacing(
        JobText.retry, with: "retry: { limit: 1, initial: 10ms, max: 10ms }"))
    try job.write("a", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 7 || command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("login")?.state == "failed")
    #expect(String(decoding: other.recorded, as: UTF8.self) == "")
    #expect(try await receiver.received().uploads.isEmpty)
  }

  @Test func `gets no capture that is marked as secret`() async throws {
    let other = try await ReceiverProcess.start(isRecording: true)
    let receiver = try await ReceiverProcess.start(
      faults: ["content:response=redirect,location=\(other.url)/files/stolen"], isRecording: true)
    let nodes = JobText.uploadIDs(retry: HostileJob.noRetry)
      .replacing(
        "capture: { id: { json: /id } }",
        with: "capture: { id: { json: /id }, key: { json: /id, secret: true } }"
      )
      .replacing(
        "transfer:\n      request: { ",
        with: "transfer:\n      request: { headers: { X-Key: \"${allocate.key}\" }, ")
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    try job.write("a", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("a")?.attempts.map(\.code) == ["redirect"])
    #expect(String(decoding: receiver.recorded, as: UTF8.self).contains("X-Key: "))
    #expect(String(decoding: other.recorded, as: UTF8.self) == "")
  }

  @Test func `that a capture names gets neither token nor secret headers`() async throws {
    let other = try await ReceiverProcess.start(isRecording: true)
    let receiver = try await ReceiverProcess.start(
      ["--require-token"], faults: ["allocate:response=foreign-url,location=\(other.url)/files/stolen"])
    let nodes = JobText.uploadIDs(retry: HostileJob.noRetry)
      .replacing("capture: { id: { json: /id } }", with: "capture: { id: { json: /id }, u: { json: /url } }")
      .replacing(
        "request: { url: \"${vars.api}/uploads/${allocate.id}/content\" }",
        with: "request: { url: \"${allocate.u}\" }")
    let job = try Workspace(
      JobText.text(server: receiver.url, nodes).replacing(
        "kind: background\n",
        with: "kind: background\n    headers: { X-Key: \"${secrets.client_secret}\", X-Plain: plain }\n"))
    try job.write("a", to: "a")
    try await other.add(spec: "file:times=1,status=403")
    let (command, report) = try await job.run()
    #expect(command.status == 1 || command.status == 7, "\(command.stdout)\(command.stderr)")
    let seen = String(decoding: other.recorded, as: UTF8.self)
    #expect(seen.contains("PUT /files/stolen"), "\(report.items)")
    #expect(seen.contains("X-Plain: plain"))
    #expect(!seen.contains("Authorization"))
    #expect(!seen.contains("X-Key"))
    SecretForms.expectNone(of: [Workspace.secret], in: other.recorded, "the other server")
    // The message contains the reason why ferry did not follow the redirect, and the setting that would allow it.
    let message = report.item("a")?.reason?.message ?? ""
    #expect(message.contains("token.access_token"), "\(message)")
  }

  /// The target is a login page that responds to every client with 200.
  @Test(arguments: [301, 302, 303])
  func `that turns a post into a GET is not followed`(_ status: Int) async throws {
    let receiver = try await ReceiverProcess.start()
    try await receiver.put("please log in", to: "login")
    try await receiver.add(spec: "inbox:response=redirect,status=\(status),location=/files/login")
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    try job.write("a", to: "a")
    for _ in 0..<2 {
      let (command, report) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      #expect(report.totals.items.done == 0)
      #expect(report.totals.items.ambiguous == 1)
    }
    #expect(receiver.gets.isEmpty, "\(receiver.log)")
    #expect(receiver.log.filter { $0.hasPrefix("POST /inbox") }.count == 1)
  }

  @Test func `with a password in the URL leaves it in no journal, report or list`() async throws {
    let receiver = try await ReceiverProcess.start()
    let password = "pass-7c1f5e0d9b-word"
    let api = receiver.url.replacing("http://", with: "http://user:\(password)@")
    let nodes = JobText.uploadIDs(retry: HostileJob.noRetry)
      .replacing(
        "capture: { id: { json: /id } }", with: "capture: { id: { json: /id }, u: { header: Location } }"
      )
      .replacing(
        "request: { url: \"${vars.api}/uploads/${allocate.id}/content\" }",
        with: "request: { url: \"${allocate.u}/content\" }"
      )
      .replacing("    token: login\n", with: "")
    let job = try Workspace(JobText.text(server: "${env.API}", nodes))
    try job.write("a", to: "a")
    try await receiver.add(spec: "content:status=403")
    let environment = ["API": api]
    let run = try await job.ferry("run", "job.yaml", "--report", "report.json", environment: environment)
    #expect(run.status == 1 || run.status == 7, "\(run.stdout)\(run.stderr)")
    let orphans = try await job.ferry("orphans", environment: environment)
    let json = try await job.ferry("orphans", "--format", "json", environment: environment)
    #expect(orphans.stdout.contains("/uploads/"), "\(orphans.stdout)\(orphans.stderr)")
    for (name, text) in [
      ("the run", run.stdout + run.stderr), ("orphans", orphans.stdout), ("orphans as JSON", json.stdout),
      ("--report", job.folder.text("report.json")),
    ] {
      SecretForms.expectNone(of: [password], in: Data(text.utf8), name)
    }
    let files = try job.stateFiles()
    #expect(files.keys.contains { $0.hasSuffix(".db") })
    for (name, data) in files { SecretForms.expectNone(of: [password], in: data, name) }
  }
}
