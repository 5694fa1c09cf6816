import FerryPlan
import FerryProcess
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryJournal

@Suite struct RunCommandsTests {
  private let folder: TestFolder
  private let plan: Plan
  private let start: CommandStart

  init() throws {
    folder = try TestFolder()
    folder.file("files/a")
    let path = folder.path + "/m.yaml"
    try Data(
      """
      version: 1
      name: m
      sessions: { s: { kind: background, identifier: s, on_events: [sh, -c, "while ! [ -e gate ]; do sleep 0.01; done"] } }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { url: "https://a.example/${file.path}" } }

      """.utf8
    ).write(to: URL(fileURLWithPath: path))
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    let job = try #require(reading.job, "\(reading.diagnostics)")
    plan = job.plan
    start = CommandStart(
      jobs: Jobs(job), state: try StateDirectory(explicit: folder.path + "/state", environment: [:]),
      environment: ProcessInfo.processInfo.environment, run: "run")
  }

  @Test func `on_events starts when the completion is on disk, and once for what completes while it runs`()
    throws
  {
    var warnings: [String] = []
    let commands = RunCommands(start, owed: [], clock: LaunchClock()) { warnings.append($0) }
    let session = SessionID(0)
    #expect(commands.startDue() == [])
    commands.batchCompleted(session, in: 2)
    commands.synced(through: 1)
    #expect(commands.startDue() == [])
    commands.synced(through: 2)
    #expect(commands.startDue() == [session])
    // Two more batches complete while the command runs.
    commands.batchCompleted(session, in: 3)
    commands.batchCompleted(session, in: 4)
    commands.synced(through: 4)
    commands.takeEndings()
    #expect(commands.startDue() == [])
    folder.file("gate")
    while commands.startDue().isEmpty { commands.takeEndings() }
    #expect(commands.startDue() == [])
    #expect(commands.finish(remaining: nil).map(\.exitStatus) == [0, 0])
    #expect(warnings == [])
  }

  @Test func `on_events that is pending from an earlier run starts at once`() throws {
    folder.file("gate")
    let commands = RunCommands(start, owed: [SessionID(0)], clock: LaunchClock()) { _ in }
    #expect(commands.startDue() == [SessionID(0)])
    #expect(commands.finish(remaining: nil).map(\.exitStatus) == [0])
  }

  @Test func `a command that cannot be started is reported once, and its event stays pending`() throws {
    var start = start
    start = CommandStart(
      jobs: start.jobs, state: start.state, environment: ["PATH": folder.path], run: start.run)
    var warnings: [String] = []
    let commands = RunCommands(start, owed: [SessionID(0)], clock: LaunchClock()) { warnings.append($0) }
    #expect(commands.startDue() == [] && commands.startDue() == [])
    try commands.startOwed([SessionID(0)], report: "report.json", remaining: nil) { _ in
      Issue.record("the event was not delivered")
    }
    #expect(
      warnings.count == 1
        && warnings[0].hasSuffix("sh cannot be started: it is not in PATH; it stays pending"))
    #expect(commands.finish(remaining: nil).map(\.problem) == ["it is not in PATH"])
  }
}
