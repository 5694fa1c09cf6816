import Foundation
import Testing

/// The manifest's folder and the state folder are moved between two runs.
@Suite struct `Folders that were moved` {
  private static let count = 40

  /// Kills a run of `job/job.yaml` whose state is in `state`. Returns the files that it had delivered.
  private func killed(_ receiver: ReceiverProcess) async throws -> (
    folder: TemporaryFolder, done: Set<String>
  ) {
    let folder = try TemporaryFolder()
    try folder.write(
      Data(JobText.text(server: receiver.url, connections: 2, JobText.puts).utf8), to: "job/job.yaml")
    for index in 0..<Self.count { try folder.write(Data("file \(index)".utf8), to: "job/files/\(index).txt") }
    try await receiver.add(spec: "file:delay=0.05")
    let run = try RunningCommand(
      Product.path("ferry"), ["run", "job/job.yaml", "--state", "state"],
      environment: ["E2E_SECRET": Workspace.secret], in: folder.url)
    _ = try await receiver.received { $0.files.count >= 6 }
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
    let recorded = try await RecordedItems.read(session: "e2e.uploads", state: folder.path("state"))
    #expect(!recorded.names(.done).isEmpty)
    return (folder, recorded.names(.done))
  }

  private func ferry(_ folder: TemporaryFolder, _ words: String...) async throws -> Command {
    try await Command.run(
      Product.path("ferry"), words, environment: ["E2E_SECRET": Workspace.secret], in: folder.url)
  }

  /// Checks that every file was sent, and that files that were done before the kill were sent only once.
  private func check(_ receiver: ReceiverProcess, done: Set<String>) async throws {
    let puts = try await receiver.received().puts
    #expect(puts.count == Self.count)
    for name in done { #expect(puts[name] == 1, "\(name)") }
  }

  private func move(_ name: String, _ folder: TemporaryFolder) throws {
    try FileManager.default.moveItem(atPath: folder.path(name), toPath: folder.path("new-\(name)"))
  }

  @Test func `are found by resume if the state folder was moved`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (folder, done) = try await killed(receiver)
    try move("state", folder)
    let resumed = try await ferry(folder, "resume", "--state", "new-state")
    #expect(resumed.status == 0, "\(resumed.stderr)")
    try await check(receiver, done: done)
  }

  @Test(arguments: [["job"], ["job", "state"]])
  func `are reported by resume if the manifest is gone, and a run of the new path resumes`(
    _ moved: [String]
  )
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let (folder, done) = try await killed(receiver)
    for name in moved { try move(name, folder) }
    let state = moved.contains("state") ? "new-state" : "state"
    let lost = try await ferry(folder, "resume", "--state", state)
    #expect(lost.status == 2)
    #expect(lost.stderr.contains("job/job.yaml: cannot be read"), "\(lost.stderr)")
    #expect(lost.stderr.contains("help: "), "\(lost.stderr)")
    #expect(lost.stderr.contains("ferry run NEWPATH --state /"), "\(lost.stderr)")

    let run = try await ferry(folder, "run", "new-job/job.yaml", "--state", state, "--report", "report.json")
    #expect(run.status == 0, "\(run.stderr)")
    let report = try RunReport.decode(try Data(contentsOf: URL(filePath: folder.path("report.json"))))
    #expect(report.run.round == 1)
    #expect(report.totals.itemsDoneInRun == Self.count - done.count)
    try await check(receiver, done: done)
    let after = try await ferry(folder, "resume", "--state", state)
    #expect(after.stdout == "nothing to resume\n", "\(after.stderr)")
  }
}
