import Foundation
import Testing

/// `ferry report --plan`, and the report of `ferry run --plan`.
@Suite struct `A comparison of a plan and a run` {
  private struct Report: Decodable {
    var plan: Plan?

    struct Plan: Decodable {
      var source: String
      var round: Int?
      var files: Amount
      var bytes: Amount
      var requests: Amount
      var seconds: Seconds
      var differences: [Difference]
      var nodes: [Node]
      var timeline: [Lane]?
    }

    struct Amount: Decodable, Equatable {
      var planned: Int?
      var actual: Int?
    }

    struct Seconds: Decodable {
      var planned: Double?
      var actual: Double?
    }

    struct Difference: Decodable {
      var code: String
      var message: String
    }

    struct Node: Decodable {
      var name: String
      var kind: String
      var plannedState: String?
      var actualState: String?
      var files: Amount
      var requests: Amount
      var seconds: Seconds
      var differences: [Difference]
    }

    struct Lane: Decodable {
      var name: String
      var spans: [Span]
    }

    struct Span: Decodable {
      var from: Double
      var to: Double
    }
  }

  private func decode(_ text: String) throws -> Report.Plan {
    let data = Data(text.utf8)
    try ReportValidator.check(data)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try #require(try decoder.decode(Report.self, from: data).plan)
  }

  private func job(_ faults: [String]) async throws -> (receiver: ReceiverProcess, job: Workspace) {
    let receiver = try await ReceiverProcess.start(faults: faults)
    let nodes = """
      fetches:
        list: { session: quick, token: login, request: { url: "${vars.api}/catalog.json" }, save_to: catalog.json }
      \(JobText.puts)
      """
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    for name in ["a", "b", "c", "d"] { try job.write("content", to: name) }
    return (receiver, job)
  }

  @Test func `shows the files, bytes and requests of each node, and why they differ`() async throws {
    let (receiver, job) = try await job(["file:match=/a,status=403", "file:match=/b,status=503,times=1"])
    defer { withExtendedLifetime(receiver) {} }
    #expect(try await job.ferry("plan", "job.yaml", "--out", "saved.json").status == 0)
    let document = try await job.ferry("plan", "job.yaml", "--format", "json")
    try job.folder.write(Data(document.stdout.utf8), to: "document.json")
    #expect(try await job.ferry("run", "job.yaml").status == 1)
    for file in ["saved.json", "document.json"] {
      let plan = try decode(await job.ferry("report", "--plan", file, "--format", "json").stdout)
      #expect(plan.source == "plan" && plan.round == 1 && plan.timeline == nil)
      #expect(plan.files == .init(planned: 4, actual: 3))
      #expect(plan.bytes == .init(planned: 28, actual: 21))
      // Requests are planned for a token, a fetch and four files. The run needs one additional attempt.
      #expect(plan.requests == .init(planned: 6, actual: 7), "\(plan)")
      #expect(plan.nodes.map(\.name) == ["login", "files", "list"])
      let files = try #require(plan.nodes.first { $0.name == "files" })
      #expect(files.plannedState == "run" && files.actualState == "failed")
      #expect(files.requests == .init(planned: 4, actual: 5))
      #expect(files.differences.map(\.code) == ["failed", "more_requests"], "\(files.differences)")
      #expect(plan.nodes.allSatisfy { $0.name == "files" || $0.differences.isEmpty }, "\(plan.nodes)")
    }
    let text = try await job.ferry("report", "--plan", "saved.json")
    #expect(text.stdout.contains("4 → 3 files, 28 B → 21 B, 6 → 7 requests"), "\(text.stdout)")
    #expect(text.stdout.contains("1 file failed; 1 more request"), "\(text.stdout)")
    let markdown = try await job.ferry("report", "--plan", "saved.json", "--format", "markdown")
    #expect(markdown.stdout.contains("| planned → actual | files |"), "\(markdown.stdout)")
    #expect(markdown.stdout.contains("| 4 → 3 | 28 B → 21 B | 4 → 5 |"), "\(markdown.stdout)")
  }

  @Test func `is in the report of a run that runs a plan`() async throws {
    let (receiver, job) = try await job([])
    defer { withExtendedLifetime(receiver) {} }
    #expect(try await job.ferry("plan", "job.yaml", "--out", "plan.json").status == 0)
    let run = try await job.ferry("run", "--plan", "plan.json", "--report", "report.json")
    #expect(run.status == 0, "\(run.stderr)")
    let plan = try decode(job.folder.text("report.json"))
    #expect(plan.files == .init(planned: 4, actual: 4) && plan.requests == .init(planned: 6, actual: 6))
    #expect(plan.nodes.allSatisfy { $0.differences.isEmpty }, "\(plan.nodes)")
    #expect(try await job.ferry("report").stdout.contains("    no differences\n"))
    // The report of another run contains no comparison.
    let other = try await job.ferry("run", "job.yaml", "--report", "other.json")
    #expect(other.status == 0 && !job.folder.text("other.json").contains("\"plan\""))
  }

  @Test func `has the durations and the timeline of a simulation`() async throws {
    let (receiver, job) = try await job(["file:delay=0.7"])
    defer { withExtendedLifetime(receiver) {} }
    let simulation = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--latency", "5ms", "--format", "json")
    #expect(simulation.status == 0, "\(simulation.stderr)")
    try job.folder.write(Data(simulation.stdout.utf8), to: "plan.json")
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    let plan = try decode(await job.ferry("report", "--plan", "plan.json", "--format", "json").stdout)
    #expect(plan.source == "simulation" && plan.round == nil)
    #expect(plan.files == .init(planned: 4, actual: 4))
    let files = try #require(plan.nodes.last { $0.name == "files" })
    #expect(files.requests == .init(planned: 4, actual: 4))
    #expect((files.seconds.planned ?? 9) < 0.5 && (files.seconds.actual ?? 0) >= 0.6, "\(files.seconds)")
    #expect(files.differences.map(\.code) == ["slower"], "\(files.differences)")
    let lane = try #require(plan.timeline?.last { $0.name == "files" })
    #expect(lane.spans.allSatisfy { $0.from <= $0.to } && !lane.spans.isEmpty)
  }

  @Test func `needs a plan of the same manifest`() async throws {
    let (receiver, job) = try await job([])
    defer { withExtendedLifetime(receiver) {} }
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    func message(_ text: String) async throws -> String {
      try job.folder.write(Data(text.utf8), to: "plan.json")
      let report = try await job.ferry("report", "--plan", "plan.json")
      #expect(report.status == 2 && report.stdout.isEmpty)
      return report.stderr
    }
    for text in ["", "[]", "{\"version\":1}", String(repeating: "[", count: 100_000)] {
      #expect(try await message(text).contains("plan.json: this is not a ferry plan\nhelp: write it with"))
    }
    let rounds = try await job.ferry(
      "plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--for", "1d", "--format", "json")
    #expect(try await message(rounds.stdout).contains("a simulation of several rounds cannot be compared"))
    let other = try await job.ferry("plan", "job.yaml", "--format", "json").stdout
      .replacing("\"manifest\" : \"e2e\"", with: "\"manifest\" : \"other\\u001b[31m\"")
    let error = try await message(other)
    #expect(error.contains("the plan belongs to manifest 'other") && !error.contains("\u{1B}"), "\(error)")
    let missing = try await job.ferry("report", "--plan", "nosuch")
    #expect(missing.status == 2 && missing.stderr.contains("nosuch: cannot be read"), "\(missing.stderr)")
    let both = try await job.ferry("report", "--diff", "--plan", "plan.json")
    #expect(both.status == 2 && both.stderr.contains("--plan compares one run with a plan"), "\(both.stderr)")
  }
}
