import Foundation
import Testing

/// The manifests in `examples/` for the APIs of services. Most run against emulations that check every request, others
/// against moto.
@Suite(.timeLimit(.minutes(2))) struct `An example for a service` {
  /// A service, the example for it, and the files to send.
  struct Service: Sendable, CustomTestStringConvertible {
    /// The name in the emulation's log.
    var name: String
    var example: String
    /// Sizes of files, by name.
    var files: [String: Int]
    /// The environment variable that names the folder of the files.
    var root: String
    /// The environment variables that contain a URL, with the path of the URL at the emulation.
    var urls: [String: String]
    var environment: [String: String]
    /// The requests that send the bytes of a file.
    var transfer: String
    /// Converts the name of a file to its name on the service.
    var stored: @Sendable (String) -> String = { $0 }

    var testDescription: String { example }

    static let client = [
      "CLIENT_ID": "test-client", "CLIENT_SECRET": "test-client-secret",
      "REFRESH_TOKEN": "test-refresh-token",
    ]

    static let slack = Service(
      name: "slack", example: "slack", files: ["a.bin": 700_000, "Grüße \"1\".txt": 1], root: "SLACK_FILES",
      urls: ["SLACK_API": "/slack/api"],
      environment: ["SLACK_CHANNEL": "C0TEST", "SLACK_TOKEN": "xoxb-test"],
      transfer: "^POST /slack-files/")
    static let youtube = Service(
      name: "youtube", example: "youtube", files: ["long.mp4": 10 << 20, "Grüße 1.mov": 300_000],
      root: "YOUTUBE_VIDEOS", urls: ["YOUTUBE_API": "/youtube", "YOUTUBE_LOGIN": "/youtube"],
      environment: client, transfer: "^PUT /youtube/",
      stored: { String($0.prefix { $0 != "." }) })
    static let gitHub = Service(
      name: "github", example: "github-release", files: ["app-1.0.tar.gz": 700_000, "app-1.0.zip": 1],
      root: "GITHUB_ASSETS", urls: ["GITHUB_API_URL": "/github", "GITHUB_UPLOADS": "/github-uploads"],
      environment: [
        "GITHUB_REPOSITORY": "octo-org/app", "GITHUB_REF_NAME": "v1.0.0", "GITHUB_TOKEN": "github-test",
      ],
      transfer: "^POST /github-uploads/")
    static let dropbox = Service(
      name: "dropbox", example: "dropbox", files: ["a.bin": 700_000, "in/Grüße \"1\".txt": 1, "empty": 0],
      root: "DROPBOX_FILES", urls: ["DROPBOX_API": "/dropbox", "DROPBOX_LOGIN": "/dropbox"],
      environment: client, transfer: "append_v2", stored: { "/Backup/" + $0 })
    static let zenodo = Service(
      name: "zenodo", example: "zenodo", files: ["a.bin": 700_000, "Grüße 1.csv": 1], root: "ZENODO_FILES",
      urls: ["ZENODO_API": "/zenodo/api"], environment: ["ZENODO_TOKEN": "zenodo-test"],
      transfer: "^PUT /zenodo/api/files/")
    static let archive = Service(
      name: "archive", example: "internet-archive",
      files: ["a.bin": 700_000, "moved 1.bin": 70_000, "slow.bin": 1000], root: "IA_FILES",
      urls: ["IA_API": "/archive"],
      environment: [
        "IA_ITEM": "ferry-test", "IA_TITLE": "Süß & gut", "IA_ACCESS_KEY": "test-key",
        "IA_SECRET_KEY": "test-secret",
      ],
      transfer: "^PUT /archive/ferry-test/a.bin", stored: { "ferry-test/" + $0 })

    func run(at server: ServiceEmulations, files: [String: Int]? = nil, _ other: [String: String] = [:])
      throws
      -> ExampleRun
    {
      try ExampleRun(
        example, files: files ?? self.files, root: root,
        environment: urls.mapValues { server.url + $0 }.merging(environment) { $1 }.merging(other) { $1 })
    }

    /// Checks that the service has stored each file once and unchanged, and has rejected nothing.
    func expectFiles(_ run: ExampleRun, _ names: [String]? = nil, in log: ServiceEmulations.Log) async throws
    {
      let names = names ?? Array(files.keys)
      let digests = try await run.digests(of: names)
      let accepted = log.stored[name, default: []]
      #expect(accepted.map(\.name).sorted() == names.map(stored).sorted())
      for file in names {
        #expect(accepted.first { $0.name == stored(file) }?.sha256 == digests[file], "\(file)")
      }
      #expect(log.violations == [])
    }
  }

  private static let all: [Service] = [.slack, .youtube, .gitHub, .dropbox, .zenodo, .archive]

  @Test(
    .enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"),
    arguments: Self.all)
  func `delivers each file once`(_ service: Service) async throws {
    let server = try await ServiceEmulations.start()
    let run = try service.run(at: server)
    for command in ["check", "plan"] {
      let command = try await run.ferry(command)
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
      #expect(!(command.stdout + command.stderr).contains("warning"), "\(command.stdout)\(command.stderr)")
    }
    let (command, report) = try await run.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    // The body of a redirected request is sent twice. The second time, its bytes count as resent.
    #expect(report.totals.bytes.useful == service.files.values.reduce(0, +))
    #expect((report.totals.bytes.resent > 0) == (service.name == "archive"))
    let log = try await server.log()
    try await service.expectFiles(run, in: log)
    // Each round creates another record at Zenodo.
    guard service.name != "zenodo" else {
      #expect(log.counts["zenodo publications"] == 1 && log.counts["zenodo depositions"] == 1)
      return
    }
    let again = try await run.run()
    #expect(again.command.status == 0 && again.report.totals.bytes.useful == 0)
    try await service.expectFiles(run, in: try await server.log())
  }

  @Test(
    .enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"),
    arguments: Self.all.filter { $0.name != "github" })
  func `delivers each file once if ferry is killed while it sends one`(_ service: Service) async throws {
    let hold = ServiceEmulations.Hold(match: service.transfer, at: .body)
    let server = try await ServiceEmulations.start(holds: [hold])
    let run = try service.run(
      at: server, files: ["a.bin", "long.mp4"].reduce(into: [:]) { $0[$1] = service.files[$1] })
    try await run.runAndKill { try await server.waitUntilHeld(hold) }
    let (command, _) = try await run.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let names = try FileManager.default.contentsOfDirectory(atPath: run.folder.path("files"))
    let log = try await server.log()
    try await service.expectFiles(run, names, in: log)
    if service.name == "youtube" {
      #expect(log.counts["youtube queries"] == 1)
      let received = try #require(log.stored["youtube"]?.first?.received)
      #expect(received < (10 << 20) + (512 << 10), "at most what YouTube had not stored is sent again")
    }
  }

  @Test(
    .enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"),
    arguments: [(ServiceEmulations.Hold.Moment.after, "done"), (.before, "retry")])
  func `completes a file at Slack once if ferry is killed during the completion`(
    _ moment: ServiceEmulations.Hold.Moment, decision: String
  ) async throws {
    let hold = ServiceEmulations.Hold(match: "completeUploadExternal", at: moment)
    let server = try await ServiceEmulations.start(holds: [hold])
    let run = try Service.slack.run(at: server, files: ["a.bin": 1000])
    try await run.runAndKill { try await server.waitUntilHeld(hold) }
    // ferry cannot determine whether Slack has executed the completion.
    let next = try await run.run()
    #expect(next.command.status == 1 && next.report.item("a.bin")?.state == "ambiguous")
    #expect(try await server.log().counts["slack completions"] == (moment == .after ? 1 : nil))
    let resolve = try await run.ferry("resolve", "a.bin", decision, "--manifest")
    #expect(resolve.status == 0, "\(resolve.stderr)")
    let last = try await run.run()
    #expect(last.command.status == 0, "\(last.command.stdout)\(last.command.stderr)")
    try await Service.slack.expectFiles(run, ["a.bin"], in: try await server.log())
  }

  @Test(
    .enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"),
    arguments: [
      ("SLACK_TOKEN", "invalid_auth", "allocate"), ("SLACK_CHANNEL", "channel_not_found", "commit"),
    ])
  func `fails if Slack reports an error with the status 200`(
    _ variable: String, error: String, step: String
  ) async throws {
    let server = try await ServiceEmulations.start()
    let run = try Service.slack.run(at: server, files: ["a.bin": 1000], [variable: "wrong"])
    let (command, report) = try await run.run()
    #expect(command.status == 1)
    #expect(report.item("a.bin")?.reason?.code == "unexpected_answer")
    #expect(report.item("a.bin")?.attempts.last?.step == step)
    let log = try await server.log()
    #expect(log.violations.count == 1 && log.violations.allSatisfy { $0.hasSuffix(error) })
    #expect(log.stored["slack"] == nil)
  }

  @Test(.enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"))
  func `creates one video at YouTube if ferry is killed after the last part`() async throws {
    // The first PUT sends the whole file.
    let hold = ServiceEmulations.Hold(match: "^PUT /youtube/", at: .after)
    let server = try await ServiceEmulations.start(holds: [hold])
    let run = try Service.youtube.run(at: server, files: ["a.mp4": 700_000])
    try await run.runAndKill { try await server.waitUntilHeld(hold) }
    let (command, _) = try await run.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    try await Service.youtube.expectFiles(run, ["a.mp4"], in: log)
    #expect(log.counts["youtube queries"] == 1 && log.stored["youtube"]?.first?.received == 700_000)
  }

  @Test(.enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"))
  func `publishes a record at Zenodo once, however often ferry is killed`() async throws {
    let holds: [ServiceEmulations.Hold] = [
      .init(match: "^POST /zenodo/api/deposit/depositions$", at: .after),
      .init(match: "^PUT /zenodo/", at: .body),
      .init(match: "^PUT /zenodo/", number: 2, at: .after),
      .init(match: "/actions/publish", at: .after),
    ]
    let server = try await ServiceEmulations.start(holds: holds)
    let run = try Service.zenodo.run(at: server)
    for hold in holds { try await run.runAndKill { try await server.waitUntilHeld(hold) } }
    // ferry cannot determine whether Zenodo has executed the request.
    let next = try await run.run()
    #expect(next.command.status == 1, "\(next.command.stdout)\(next.command.stderr)")
    #expect(next.report.node("publish")?.state == "ambiguous")
    let resolve = try await run.ferry("resolve", "publish", "done", "--manifest")
    #expect(resolve.status == 0, "\(resolve.stderr)")
    let log = try await server.log()
    try await Service.zenodo.expectFiles(run, in: log)
    #expect(log.counts["zenodo publications"] == 1)
    // The response to the request for the first deposition was lost.
    #expect(log.counts["zenodo depositions"] == 2)
  }

  @Test(.enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"))
  func `does not upload an asset that a GitHub release already has`() async throws {
    let server = try await ServiceEmulations.start()
    let first = try await Service.gitHub.run(at: server).run()
    #expect(first.command.status == 0)
    // The state folder of the first job is not kept.
    let second = try await Service.gitHub.run(at: server).run()
    #expect(second.command.status == 0, "\(second.command.stdout)\(second.command.stderr)")
    let log = try await server.log()
    #expect(log.counts["github assets"] == 2)
    #expect(log.violations.count == 2 && log.violations.allSatisfy { $0.hasSuffix("Validation Failed") })
  }

  @Test(.enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"))
  func `does not upload an asset to GitHub again blindly after a kill`() async throws {
    let hold = ServiceEmulations.Hold(match: Service.gitHub.transfer, at: .body)
    let server = try await ServiceEmulations.start(holds: [hold])
    let run = try Service.gitHub.run(at: server, files: ["a.zip": 700_000])
    try await run.runAndKill { try await server.waitUntilHeld(hold) }
    let next = try await run.run()
    #expect(next.command.status == 1 && next.report.item("a.zip")?.state == "ambiguous")
    #expect(try await server.log().stored["github"] == nil)
    let resolve = try await run.ferry("resolve", "a.zip", "retry", "--manifest")
    #expect(resolve.status == 0, "\(resolve.stderr)")
    let last = try await run.run()
    #expect(last.command.status == 0, "\(last.command.stdout)\(last.command.stderr)")
    try await Service.gitHub.expectFiles(run, ["a.zip"], in: try await server.log())
  }

  @Test(.enabled(if: ServiceEmulations.isPossible, "python3-aiohttp is needed: scripts/setup test"))
  func `notices an incomplete asset at GitHub`() async throws {
    let server = try await ServiceEmulations.start()
    let run = try Service.gitHub.run(at: server, files: ["broken.zip": 1000, "whole.zip": 1000])
    let (command, report) = try await run.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("broken.zip")?.state == "ambiguous" && report.totals.items.done == 1)
    let resolve = try await run.ferry("resolve", "broken.zip", "retry", "--manifest")
    #expect(resolve.status == 0, "\(resolve.stderr)")
    // The second attempt gets 422, because the release already has an asset of this name.
    let next = try await run.run()
    #expect(next.command.status == 1, "\(next.command.stdout)\(next.command.stderr)")
    #expect(next.report.node("verify")?.reason?.code == "unexpected_answer")
  }

  @Test(
    .enabled(if: S3Server.isPossible, "moto is needed: scripts/setup test"),
    arguments: [PresignServer.Hold.none, .put, .confirm])
  func `delivers each file once with presigned URLs`(_ hold: PresignServer.Hold) async throws {
    let server = try await PresignServer.start(hold: hold)
    let files = hold == .none ? ["a.bin": 700_000, "in/Grüße 1.txt": 1, "empty": 0] : ["a.bin": 700_000]
    let run = try ExampleRun(
      "presigned", files: files, root: "PRESIGN_FILES",
      environment: ["PRESIGN_API": server.url, "PRESIGN_KEY": "presign-test"])
    for command in ["check", "plan"] where hold == .none {
      let command = try await run.ferry(command)
      #expect(command.status == 0 && !(command.stdout + command.stderr).contains("warning"))
    }
    if hold != .none { try await run.runAndKill { try await server.waitUntilHeld() } }
    let (command, _) = try await run.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    let digests = try await run.digests(of: Array(files.keys))
    #expect(log.uploads.count == files.count && log.confirmations == files.count)
    #expect(Dictionary(uniqueKeysWithValues: log.uploads.map { ($0.name, $0.sha256) }) == digests)
    #expect(log.issued == files.count, "a PUT that was interrupted is sent again with the same URL")
    #expect(log.puts == files.count + (hold == .put ? 1 : 0))
    #expect(log.repeated == (hold == .confirm ? 1 : 0) && log.refused == [])
    let again = try await run.run()
    #expect(again.report.totals.requests == 0)
  }
}
