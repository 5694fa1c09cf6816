import Foundation
import Testing

/// What a terminal shows while its size changes. `FERRY_CAPTURES` names a folder to which the screens are written.
@Suite(.enabled("tmux is needed") { TmuxTerminal.isPossible })
struct `A terminal` {
  private static func width(_ line: String) -> Int {
    line.unicodeScalars.reduce(0) { $0 + (0x3000...0x9FFF ~= $1.value ? 2 : 1) }
  }

  private func keep(_ lines: [String], _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["FERRY_CAPTURES"] else { return }
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: folder).appending(path: name))
  }

  private func job(delay: String) async throws -> (receiver: ReceiverProcess, job: Workspace) {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=\(delay)"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for index in 0..<1000 {
      let name = index % 2 == 0 ? "日本語の写真" : "photo with a long name"
      try job.write(String(repeating: "x", count: 3000), to: "\(index)-\(name).jpg")
    }
    return (receiver, job)
  }

  private func environment(_ job: Workspace) -> [String: String] {
    ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret]
  }

  @Test func `shows the progress of 1,000 items in place, also after its width has changed`() async throws {
    let (receiver, job) = try await job(delay: "0.1")
    defer { withExtendedLifetime(receiver) {} }
    let terminal = try await TmuxTerminal.start(
      "echo before; '\(Product.path("ferry"))' run job.yaml", columns: 80, environment: environment(job),
      in: job.folder.url)
    func isRight(_ lines: [String], _ columns: Int) -> Bool {
      // A frame has the line of the run and the lines of four requests. Nothing of an earlier frame remains.
      // A terminal that becomes narrower may move the lines above the frame into its history.
      let frame = lines.filter { $0 != "before" }
      // With 40 columns, there is no room for the step of a request, and with 20, there is none for its time.
      let (start, end) = (columns < 56 ? "  files/" : "  transfer  ", columns < 32 ? "%" : " s")
      return frame.count == 5 && frame[0].contains(" of 1000 items") && Self.width(frame[0]) < columns
        && frame.dropFirst().allSatisfy { line in
          line.hasPrefix(start) && Self.width(line) < columns
        } && frame[1].hasSuffix(end)
    }
    for (step, columns) in [80, 40, 20, 100, 20, 80].enumerated() {
      try await terminal.resize(columns: columns)
      try keep(await terminal.screen { isRight($0, columns) }, "\(step)-run-at-\(columns)")
    }
    let end = try await terminal.screen(within: .seconds(120)) { $0.last == "exited with 0" }
    try keep(end, "summary")
    let summary = end.drop { $0 == "before" }
    #expect(summary.count <= 11, "\(end)")
    #expect(summary.first == "e2e: everything is done (exit code 0): 1,000 items delivered", "\(end)")
    #expect(!end.contains { $0.contains("transfer  ") })
  }

  @Test func `shows the requests of another process, also after its width has changed`() async throws {
    let (receiver, job) = try await job(delay: "0.3")
    defer { withExtendedLifetime(receiver) {} }
    let run = try job.start(["run", "job.yaml", "--limit", "150"])
    while try await !job.ferry("status").stdout.contains("held by process"), run.isRunning {}
    let terminal = try await TmuxTerminal.start(
      "'\(Product.path("ferry"))' status --follow", columns: 80, environment: environment(job),
      in: job.folder.url)
    for (step, columns) in [80, 40, 20, 80].enumerated() {
      try await terminal.resize(columns: columns)
      let lines = try await terminal.screen { lines in
        lines.first?.hasPrefix("session e2e") == true && lines.allSatisfy { Self.width($0) < columns }
          && lines.contains { $0.hasPrefix("run ") }
          && lines.count { $0.hasPrefix("  transfer  ") } == 4 && lines.count <= 10
      }
      try keep(lines, "\(step)-follow-at-\(columns)")
    }
    #expect(await run.end().status == 0)
    let end = try await terminal.screen { $0.last == "exited with 0" }
    try keep(end, "follow-end")
    #expect(end.first == "session e2e.uploads: free", "\(end)")
    #expect(end.contains { $0.contains("150 done") } && !end.contains { $0.contains("transfer  ") }, "\(end)")
  }
}
