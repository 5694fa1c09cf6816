import Foundation
import Testing

/// The output of `ferry plan --effective`.
@Suite struct `The effective plan` {
  private let job: Workspace

  init() throws {
    job = try Workspace(JobText.text(server: "http://127.0.0.1:9", JobText.uploadIDs()))
    try job.write("text", to: "a.txt")
  }

  @Test func `is a manifest that means the same, with the places of its values`() async throws {
    let first = try await job.ferry("plan", "--effective", "job.yaml")
    #expect(first.status == 0, "\(first.stderr)")
    #expect(first.stdout.contains("# job.yaml:"))
    #expect(first.stdout.contains("# built in"))
    #expect(!first.stdout.contains(Workspace.secret))
    let plan = try await job.ferry("plan", "--format", "json", "--at", "2026-03-02T10:00Z", "job.yaml")

    try job.write(manifest: first.stdout)
    let second = try await job.ferry("plan", "--effective", "job.yaml")
    #expect(second.stdout.split(separator: "\n").count == first.stdout.split(separator: "\n").count)
    let again = try await job.ferry("plan", "--format", "json", "--at", "2026-03-02T10:00Z", "job.yaml")
    #expect(again.stdout == plan.stdout)
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }

  @Test func `shows the origin of each value as JSON`() async throws {
    struct Effective: Decodable {
      struct Leaf: Decodable {
        var value: String
        var from: String
      }
      var name: Leaf
      var profile: Leaf
    }
    let command = try await job.ferry("plan", "--effective", "--format", "json", "job.yaml")
    #expect(command.status == 0, "\(command.stderr)")
    let effective = try JSONDecoder().decode(Effective.self, from: Data(command.stdout.utf8))
    #expect(effective.name.from.hasPrefix("job.yaml:"))
    #expect(effective.profile.value == "server")
    #expect(effective.profile.from == "built in")
  }

  @Test func `of a manifest with errors is only its diagnostics and exit code 3`() async throws {
    try job.write(manifest: "version: 1\nnam: x\n")
    let command = try await job.ferry("plan", "--effective", "job.yaml")
    #expect(command.status == 3)
    #expect(command.stdout == "")
    #expect(command.stderr.contains("job.yaml:2:1: error:"))
  }

  @Test func `of a part is a usage error`() async throws {
    let command = try await job.ferry("plan", "--effective", "--only", "photos", "job.yaml")
    #expect(command.status == 2)
    #expect(command.stderr.contains("--only"))
  }
}
