import Foundation
import Testing

/// `sign: { aws_v4 }` against moto, which computes every signature with botocore.
@Suite struct `A signed request` {
  private static func job(
    _ server: S3Server, sign: String = "{ aws_v4: {} }", transfer: String = "", more: String = ""
  ) throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: signed
      secrets: { sk: { env: MY_SECRET } }
      sessions: { s3: { sign: \(sign), headers: { User-Agent: ferry, X-Amz-Storage-Class: STANDARD_IA } } }
      uploads:
        photos:
          session: s3
          files: { root: files, include: ["**"] }
          transfer: { request: { url: "\(server.bucketURL)/in/${file.path}" }\(transfer) }
          retry: { limit: 1, initial: 10ms }
      \(more)
      """)
  }

  private static func run(
    _ job: Workspace, _ environment: [String: String]
  ) async throws -> (command: Command, report: RunReport) {
    let command = try await job.ferry(
      "run", "job.yaml", "--report", "report.json",
      environment: ["MY_SECRET": "wrong-secret-0123456789"].merging(environment) { $1 })
    return (command, try job.report())
  }

  @Test(.enabled(if: S3Server.isPossible, "moto is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `is accepted for objects of any name and size, and their downloads`() async throws {
    let server = try await S3Server.start()
    let job = try Self.job(
      server,
      more: """
        fetches:
          copy:
            session: s3
            needs: [photos]
            request: { url: "\(server.bucketURL)/in/a%20%28b%29%2B~.txt?response-content-type=text%2Fplain" }
            save_to: copy.txt
        downloads:
          copies:
            session: s3
            needs: [photos]
            items: { urls: ["\(server.bucketURL)/in/large"], save_to: "copies/${item.name}" }
        requests:
          note:
            session: s3
            needs: [photos]
            request: { method: PUT, url: "\(server.bucketURL)/note.json", json: { n: 1 } }
          list:
            session: s3
            needs: [note]
            request: { method: GET, url: "\(server.bucketURL)?prefix=note&list-type=2" }
            capture: { key: { xml: ListBucketResult/Contents/Key } }
          last:
            session: s3
            request: { method: DELETE, url: "\(server.bucketURL)/in/${requests.list.key}" }

        """)
    try job.write("one", to: "a (b)+~.txt")
    try job.write("", to: "empty")
    try job.write("ü", to: "sub/ü&=.txt")
    try job.folder.write(Data(repeating: 7, count: 200_000), to: "files/large")
    let (command, _) = try await Self.run(job, server.environment)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)\(server.log)")
    #expect(
      try await server.objects() == [
        "in/a (b)+~.txt 3", "in/empty 0", "in/large 200000", "in/sub/ü&=.txt 2", "note.json 7",
      ])
    #expect(job.folder.text("copy.txt") == "one")
    #expect(try Data(contentsOf: job.folder.url.appending(path: "copies/large")).count == 200_000)
    await server.stop()
  }

  /// Without this check that moto rejects wrong signatures, the other tests would prove nothing.
  @Test(
    .enabled(if: S3Server.isPossible, "moto is needed: scripts/setup test"), .timeLimit(.minutes(2)),
    arguments: [
      (
        "{ aws_v4: { access_key: AKIA0000000000000000, secret_key: \"${secrets.sk}\", region: us-east-1 } }",
        "", 403
      ),
      // moto responds with 500 to a request without a signature.
      ("{ aws_v4: {} }", ", sign: none", 500),
      ("{ aws_v4: { payload: unsigned } }", "", 200), ("{ aws_v4: { payload: signed } }", "", 200),
    ])
  func `is rejected without the right signature`(
    _ sign: String, transfer: String, status: Int
  ) async throws {
    let server = try await S3Server.start()
    let job = try Self.job(server, sign: sign, transfer: transfer)
    try job.write("one", to: "a.txt")
    let (command, report) = try await Self.run(job, server.environment)
    #expect((command.status == 0) == (status == 200), "\(command.stderr)\(server.log)")
    #expect(report.item("a.txt")?.reason?.status == (status == 200 ? nil : status))
    #expect(try await server.objects() == (status == 200 ? ["in/a.txt 3"] : []))
    await server.stop()
  }

  @Test(.enabled(if: S3Server.isPossible, "moto is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `uses the credentials of a profile, and a wrong secret is rejected`() async throws {
    let server = try await S3Server.start()
    let job = try Self.job(server, sign: "{ aws_v4: { profile: good } }")
    try job.write("one", to: "a.txt")
    let file = job.folder.path("credentials")
    let environment = [
      "AWS_SHARED_CREDENTIALS_FILE": file, "AWS_CONFIG_FILE": job.folder.path("none"),
      "AWS_REGION": "us-east-1",
    ]
    let wrong = "wrong/secret+0123456789"
    for secret in [wrong, server.secretKey] {
      try job.folder.write(
        Data(
          "[good]\naws_access_key_id = \(server.accessKey)\naws_secret_access_key = \(secret)\n".utf8),
        to: "credentials")
      let (command, report) = try await Self.run(job, environment)
      #expect(command.status == (secret == wrong ? 1 : 0), "\(command.stderr)\(server.log)")
      if secret == wrong { #expect(report.item("a.txt")?.reason?.status == 403) }
      for text in [command.stdout, command.stderr, job.folder.text("report.json")] {
        #expect(!text.contains(secret))
      }
    }
    #expect(try await server.objects() == ["in/a.txt 3"])
    await server.stop()
  }
}

/// `sign` without an S3 server.
@Suite struct `A signature` {
  private static let environment = [
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE0001", "AWS_SECRET_ACCESS_KEY": "geheim-0123456789abcdef",
    "AWS_SESSION_TOKEN": "session-0123456789", "AWS_REGION": "eu-central-1",
  ]

  private static func job(_ request: String, session: String = "") throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: signed
      sessions: { s: { sign: { aws_v4: {} }\(session) } }
      requests:
        one:
          session: s
          request: \(request)
          retry: { limit: 0 }

      """)
  }

  @Test func `does not cross origins, and is computed again for a redirect`() async throws {
    let server = try await ScriptedServer.start([
      "/near": .init(status: 307, headers: ["Location": "/there"]),
      "/far": .init(status: 307, headers: ["Location": "{away}/there"]),
    ])
    let near = try await Self.job("{ url: \"\(server.home)/near\" }").ferry(
      "run", "job.yaml", environment: Self.environment)
    #expect(near.status == 0, "\(near.stderr)")
    #expect(server.lines == ["home GET /near", "home GET /there"])
    let signatures = server.requests.compactMap { $0.headers["authorization"] }
    #expect(Set(signatures).count == 2, "each path has its own signature")
    #expect(server.requests.allSatisfy { $0.headers["x-amz-security-token"] == "session-0123456789" })

    let far = try await Self.job("{ url: \"\(server.home)/far\" }").ferry(
      "run", "job.yaml", environment: Self.environment)
    #expect(far.status == 1)
    #expect(far.stdout.contains("the signature in the header Authorization"), "\(far.stdout)")
    let stripped = try await Self.job(
      "{ url: \"\(server.home)/far\" }", session: ", redirects: { across_origins: strip }"
    ).ferry("run", "job.yaml", environment: Self.environment)
    #expect(stripped.status == 0, "\(stripped.stderr)")
    let last = try #require(server.requests.last)
    #expect(last.server == "away")
    #expect(
      !last.headers.keys.contains { $0 == "authorization" || $0.hasPrefix("x-amz-") }, "\(last.headers)")
  }

  @Test func `whose time differs too much is rejected, and the message explains why`() async throws {
    let server = try await ScriptedServer.start([
      "/x": .init(
        status: 403, headers: ["Date": "Sat, 01 Jan 2000 00:00:00 GMT"],
        body: "<?xml version=\"1.0\"?><Error><Code>RequestTimeTooSkewed</Code><Message>m</Message></Error>")
    ])
    let command = try await Self.job("{ url: \"\(server.home)/x\" }").ferry(
      "run", "job.yaml", environment: Self.environment)
    #expect(command.status == 1)
    #expect(
      command.stdout.contains("this machine's clock shows 20")
        && command.stdout.contains("the Date of the response is 2000-01-01T00:00:00Z"), "\(command.stdout)")
  }

  @Test func `without credentials stops the run before a request, and its secrets are masked`() async throws {
    let server = try await ScriptedServer.start([
      "/x": .init(status: 403, body: "geheim-0123456789abcdef session-0123456789 eu-central-1")
    ])
    let job = try Self.job("{ url: \"\(server.home)/x\" }")
    let none = try await job.ferry(
      "run", "job.yaml",
      environment: [
        "HOME": job.folder.path(""), "AWS_ACCESS_KEY_ID": "", "AWS_REGION": "", "AWS_PROFILE": "",
      ])
    #expect(none.status == 2)
    #expect(none.stderr.contains("no AWS credentials for 'sign'"), "\(none.stderr)")
    #expect(server.lines == [])
    let masked = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", environment: Self.environment)
    #expect(masked.status == 1)
    let texts = masked.stdout + masked.stderr + job.folder.text("report.json")
    #expect(!texts.contains("geheim-0123456789") && !texts.contains("session-0123456789"))
    #expect(texts.contains("*** *** eu-central-1"), "\(texts)")
  }
}
