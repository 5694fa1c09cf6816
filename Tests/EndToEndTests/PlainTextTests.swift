import Foundation
import Testing

/// Hostile names in text output.
@Suite struct `A name with control characters` {
  private static let name = "a\nb\u{1B}[31mc\u{7}"
  private static let shown = #""a\nb\033[31mc\a""#

  private func check(_ command: Command, shows: Bool = true) {
    for text in [command.stdout, command.stderr] {
      let isPlain = text.unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control
      }
      #expect(isPlain, "\(text.debugDescription)")
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("b") }, "\(text.debugDescription)")
    }
    if shows { #expect((command.stdout + command.stderr).contains(Self.shown), "\(command.stdout)") }
  }

  @Test func `is quoted in the report and by explain, and unchanged in JSON`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:status=404"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: Self.name)
    let (run, report) = try await job.run()
    #expect(run.status == 1 && report.item(Self.name) != nil)
    check(run)
    check(try await job.ferry("report"))
    check(try await job.ferry("explain", Self.name, "--manifest", "job.yaml"))
    check(try await job.ferry("plan", "job.yaml"), shows: false)
    check(try await job.ferry("status"), shows: false)
  }

  @Test func `is quoted if it cannot be listed, sent, moved or submitted`() async throws {
    let receiver = try await ReceiverProcess.start()
    let text = JobText.text(server: receiver.url, JobText.puts + "\n    after: { move_to: sent/ }")
    let job = try Workspace(text)
    try job.write("one", to: Self.name)
    try job.folder.write(Data(), to: "files/sent/\(Self.name)")
    let (run, _) = try await job.run()
    #expect(run.status == 5)
    check(run)
    check(try await job.ferry("explain", Self.name, "--manifest", "job.yaml"))
    try job.write(
      manifest: text.replacing("{ root: files }", with: "{ root: files, list: list.txt, \"null\": true }"))
    try job.folder.write(Data("gone\(Self.name)\0".utf8), to: "list.txt")
    let plan = try await job.ferry("plan", "job.yaml")
    check(plan, shows: false)
    #expect(plan.stdout.contains(#"not listed: "gonea\nb\033[31mc\a": it does not exist"#), "\(plan.stdout)")
    check(try await job.ferry("submit", "job.yaml", "files", "files/gone\(Self.name)"), shows: false)
  }

  @Test func `is reported with a resolving command if it is ambiguous`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:drop=after"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    try job.write("one", to: Self.name)
    let (run, report) = try await job.run()
    #expect(run.status == 1)
    check(run)
    check(try await job.ferry("status"))
    check(try await job.ferry("explain", Self.name, "--manifest", "job.yaml"))
    let resolve = try #require(report.item(Self.name)?.ambiguity?.resolve.first)
    #expect(resolve.contains(#"'files/"a\nb\033[31mc\a"'"#), "\(resolve)")
    let words = resolve.replacing("ferry ", with: "\(Product.path("ferry")) ", maxReplacements: 1)
    let command = try await RunningCommand(
      "/bin/sh", ["-c", words], environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret],
      in: job.folder.url
    ).end()
    #expect(command.status == 0, "\(command.stderr)")
    check(command)
  }
}
