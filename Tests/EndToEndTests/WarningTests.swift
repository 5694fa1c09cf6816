import Foundation
import Testing

/// Manifests that are valid but probably contain a mistake. ferry prints warnings and continues.
@Suite struct `A warning` {
  @Test func `of the text leaves a manifest valid`() async throws {
    let job = try Workspace(
      """
      version: 1
      name: w
      sessions: { quick: {}, idle: {} }
      uploads:
        u: { session: quick, files: { root: files }, transfer: { request: { url: "http://127.0.0.1:1/" } } }
      """)
    let check = try await job.ferry("check", "job.yaml")
    #expect(check.status == 0)
    #expect(check.stdout.hasPrefix("job.yaml:3:24: warning: session 'idle' is not used [F0701]\n"))
    for command in ["plan", "run"] {
      let ended = try await job.ferry(command, "job.yaml")
      #expect(ended.status == 0)
      #expect(ended.stderr.contains("warning: session 'idle' is not used [F0701]"))
    }
  }

  @Test func `about files and earlier runs is reported by plan and run`() async throws {
    // The response is delayed, so that the transfer takes longer than the upload ID is valid.
    let receiver = try await ReceiverProcess.start(faults: ["content:delay=0.3"])
    let nodes = JobText.uploadIDs().replacing(
      "{ root: files }", with: "{ root: files, include: [\"*.txt\", \"*.jpg\"] }")
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    try job.write(String(repeating: "a", count: 1_000), to: "a.txt")
    let glob = "warning: pattern '*.jpg' does not match any file [F0704]"

    let first = try await job.run().command
    #expect(first.status == 0)
    #expect(first.stderr.contains(glob) && !first.stderr.contains("F0703"))

    try job.write(String(repeating: "b", count: 2_000), to: "b.txt")
    try job.write(
      manifest: JobText.text(
        server: receiver.url, nodes.replacing("valid_for: 1h", with: "valid_for: 100ms")))
    let plan = try await job.ferry("plan", "--format", "json", "job.yaml")
    #expect(plan.status == 0)
    #expect(plan.stderr.contains(glob))
    #expect(
      plan.stderr.contains("warning: 'b.txt' (2.0 kB) takes longer to send than its upload ID remains valid"))
    struct Plan: Decodable {
      struct Warning: Decodable {
        var code: String
        var severity: String
        var line: Int
      }
      var warnings: [Warning]
    }
    let warnings = try JSONDecoder().decode(Plan.self, from: Data(plan.stdout.utf8)).warnings
    #expect(warnings.map(\.code) == ["F0704", "F0703"])
    #expect(warnings.allSatisfy { $0.severity == "warning" && $0.line > 0 })

    try job.write(
      manifest: JobText.text(
        server: receiver.url, nodes.replacing("valid_for: 1h", with: "valid_for: 400ms")))
    let quiet = try await job.ferry("run", "--quiet", "job.yaml")
    #expect(quiet.status == 0)
    #expect(quiet.stderr == "")
  }
}
