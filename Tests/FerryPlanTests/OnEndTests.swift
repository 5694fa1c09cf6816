import FerryManifest
import FerryPlan
import Foundation
import Testing

/// The plan of the requests of `on_end`.
@Suite struct `Requests at the end of a run` {
  private static let yaml =
    """
    version: 1
    name: test
    budgets: { any: { limit: 1MB, per: day } }
    sessions:
      work: { kind: background, discretionary: true, timeout_for_resource: 5s, on_events: [./done] }
      quick: { timeout_for_request: 3s }
    tokens:
      login:
        session: quick
        request: { url: "http://auth/token" }
        capture: { access: { json: /a } }
        apply: { header: Authorization, value: "Bearer ${token.access}" }
      other:
        session: quick
        request: { url: "http://auth/other" }
        capture: { access: { json: /a } }
        apply: { header: Authorization, value: "Bearer ${token.access}" }
    uploads:
      files: { session: work, token: other, files: { root: . }, transfer: { request: { url: "http://h/${file.path}" } } }
    on_end:
      notify: { session: quick, token: login, request: { url: "http://h/end" } }
      alert: { session: work, when: failed, grace: 10s, request: { url: "http://h/alert" } }
    """

  private func manifest() throws -> Manifest {
    let reading = ManifestReader(environment: [:]).read(Array(Self.yaml.utf8), file: "m.yaml")
    return try #require(reading.manifest, "\(reading.diagnostics.map(\.message))")
  }

  @Test func `are not part of the graph, and neither budgets nor power hold them`() throws {
    let manifest = try manifest()
    #expect(Plan(manifest).nodes.map(\.name) == ["login", "other", "files"])
    let plan = Plan(manifest.atEnd(limits: ["notify": .seconds(30), "alert": .seconds(10)]))
    #expect(plan.nodes.map(\.name) == ["login", "notify", "alert"])
    #expect(plan.policies == Policies())
    #expect(
      plan.sessions.allSatisfy { $0.kind == .default && $0.discretionary == .no && $0.onEvents.isEmpty })
  }

  @Test func `each have the time that remains of their grace, or of their session`() throws {
    let plan = Plan(try manifest().atEnd(limits: ["notify": .seconds(30), "alert": .seconds(10)]))
    func limit(_ name: String) throws -> Duration {
      plan.sessions[try plan.node(name).session.index].timeoutForResource
    }
    #expect(try limit("notify") == .seconds(30))
    #expect(try limit("login") == .seconds(30))
    #expect(try limit("alert") == .seconds(5))
    #expect(plan.sessions[try plan.node("notify").session.index].timeoutForRequest == .seconds(3))
    let late = Plan(try manifest().atEnd(limits: ["alert": .seconds(1)]))
    #expect(late.nodes.map(\.name) == ["alert"])
    #expect(late.sessions.map(\.timeoutForResource) == [.seconds(1)])
  }

  @Test func `depend on the exit code by their when`() {
    let failures: Set<ExitCode> = [
      .itemsFailed, .usage, .invalidManifest, .integrity, .temporary, .sessionInUse, .authorization, .fault,
      .interrupted, .terminated,
    ]
    for code in ExitCode.allCases {
      #expect(SingleRequest.When.always.allows(code))
      #expect(SingleRequest.When.succeeded.allows(code) == (code == .success))
      #expect(SingleRequest.When.failed.allows(code) == failures.contains(code))
    }
    #expect(Set(ExitCode.allCases.map(\.word)).count == ExitCode.allCases.count)
  }

  @Test func `see the words for exit codes that the reference lists`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/commands/README.md"), encoding: .utf8)
    for code in ExitCode.allCases where code.rawValue < 128 {
      #expect(page.contains("\n| \(code.rawValue) | `\(code.word)` |"))
    }
    let (interrupted, terminated) = (ExitCode.interrupted, ExitCode.terminated)
    #expect(page.contains("\n| 130, 143 | `\(interrupted.word)`, `\(terminated.word)` |"))
  }
}
