import Foundation
import Testing

@Suite struct `The differences between two reports` {
  private static let nodes = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        deliver: every_run
        transfer: { request: { url: "${vars.api}/files/${file.path}" } }
    """

  /// Runs a job twice, with the given faults of the receiver and sizes of the files.
  private func job(
    first: [String] = [], second: [String] = [], sizes: (Int, Int) = (100, 100), budget: Bool = false
  ) async throws -> (job: Workspace, ids: [String]) {
    var ids: [String] = []
    let job = try Workspace("")
    for (faults, size) in [(first, sizes.0), (second, sizes.1)] {
      let receiver = try await ReceiverProcess.start(faults: faults)
      let limit = budget ? "\nbudgets: { any: { limit: 1GB, per: month } }" : ""
      try job.write(manifest: JobText.text(server: receiver.url, Self.nodes + limit))
      for name in ["a", "b", "c", "d"] { try job.write(String(repeating: "x", count: size), to: name) }
      let (command, report) = try await job.run()
      #expect(command.status < 2, "\(command.stderr)")
      ids.append(report.run.id)
    }
    return (job, ids)
  }

  private func diff(_ job: Workspace, _ arguments: [String]) async throws -> Command {
    try await job.start(["report", "--diff"] + arguments).end()
  }

  @Test func `do not matter between two equal runs`() async throws {
    let (job, ids) = try await job()
    let command = try await diff(job, ids + ["--fail-on", "new-failures,slower:100000%,budget:+1%"])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(command.stdout.contains("items delivered: 4 → 4") && !command.stdout.contains("new failures"))
  }

  @Test func `include new failures, and those that no longer occur`() async throws {
    let (job, ids) = try await job(
      first: ["file:match=files/a,status=403", "file:match=files/b,status=403"],
      second: ["file:match=files/b,status=403", "file:match=files/c,status=422"])
    let command = try await diff(job, ids + ["--fail-on", "new-failures"])
    #expect(command.status == 1)
    #expect(
      command.stdout.contains("new failures: 1\n    files/c: the server responded with 422"),
      "\(command.stdout)")
    #expect(command.stdout.contains("no longer failing: 1\n    files/a"))
    #expect(command.stdout.contains("failing in both runs: 1"))
    #expect(command.stderr.contains("ferry: --fail-on: new-failures"))
    // If no runs are named, the last two are compared. In the opposite direction, the failure of `a` is new.
    #expect(try await diff(job, []).stdout == command.stdout)
    #expect(try await diff(job, ids.reversed() + ["--fail-on", "new-failures"]).stdout.contains("files/a: "))
    struct Document: Decodable {
      struct Failure: Decodable { var path: String }
      var newFailures: [Failure]
      var failures: [String]
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let json = try await diff(job, ids + ["--fail-on", "new-failures", "--format", "json"])
    let document = try decoder.decode(Document.self, from: Data(json.stdout.utf8))
    #expect(document.newFailures.map(\.path) == ["c"] && document.failures == ["new-failures"])
  }

  @Test func `include a run that became slower`() async throws {
    let (job, ids) = try await job(second: ["file:delay=1.5"])
    #expect(try await diff(job, ids + ["--fail-on", "slower:20%"]).status == 1)
    #expect(try await diff(job, ids.reversed() + ["--fail-on", "slower:20%"]).status == 0)
  }

  @Test func `include a budget that was used more`() async throws {
    let (job, ids) = try await job(sizes: (10_000, 12_000), budget: true)
    let command = try await diff(job, ids + ["--fail-on", "budget:+10%"])
    #expect(command.status == 1 && command.stdout.contains("budget any: "), "\(command.stdout)")
    #expect(try await diff(job, ids + ["--fail-on", "budget:+50%"]).status == 0)
  }

  @Test func `can involve a report in a file, and are refused for a file that is not a report`() async throws
  {
    let (job, ids) = try await job()
    try job.folder.write(Data(job.folder.text("state/runs/\(ids[0])/report.json").utf8), to: "before.json")
    try job.folder.write(Data("{}\n".utf8), to: "other.json")
    #expect(try await diff(job, ["before.json", ids[1]]).status == 0)
    for (arguments, message) in [
      (["other.json", ids[1]], "other.json: is not a report of ferry"),
      (["none.json", ids[1]], "none.json: cannot be read"),
      (["--fail-on", "slower"], "'slower' is not a condition"), ([ids[0]], "before \(ids[0]) has a report"),
    ] {
      let command = try await diff(job, arguments)
      #expect(command.status == 2 && command.stderr.contains(message), "\(command.stderr)")
    }
  }

  @Test func `are those of runs that ferry runs lists`() async throws {
    let (job, ids) = try await job(second: ["file:match=files/a,status=403"])
    let command = try await job.ferry("runs")
    let lines = command.stdout.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].hasPrefix("\(ids[1])  e2e round 2: exit code 1, began "), "\(lines)")
    #expect(lines[1].hasPrefix("\(ids[0])  e2e round 1: exit code 0, began "))
    struct Document: Decodable {
      struct Run: Decodable {
        var id: String
        var state: String
        var exitCode: Int
      }
      var version: Int
      var runs: [Run]
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let json = try await job.ferry("runs", "--limit", "1", "--format", "json")
    let document = try decoder.decode(Document.self, from: Data(json.stdout.utf8))
    #expect(document.runs.map(\.id) == [ids[1]] && document.runs[0].exitCode == 1)
    #expect(document.runs[0].state == "ended")
  }
}
