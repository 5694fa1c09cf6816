import Foundation
import Testing

/// The state folder as a power failure before a sync leaves it, and the job that resumes from this folder.
///
/// If FERRY_SOAK_KILLS is set, as by scripts/soak, every sync is tested.
@Suite(
  .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere }
) struct `A state folder after a power cut` {
  private static let isSoak = ProcessInfo.processInfo.environment["FERRY_SOAK_KILLS"] != nil
  private static let files = 12

  @Test(arguments: FaultyJob.Kind.allCases, StateRecording.Survival.allCases)
  func `lets the job resume, and no file is lost or delivered twice`(
    _ kind: FaultyJob.Kind, survival: StateRecording.Survival
  ) async throws {
    let receiver = try await ReceiverProcess.start()
    try await receiver.add(spec: "any:delay=0.002")
    let whole = try FaultyJob(kind, files: Self.files, at: receiver, label: "\(survival)-whole")
    let clean = await (try whole.start([:])).end()
    #expect(clean.status == 0, "\(clean.stderr)")
    let syncs = try whole.recording().syncs

    let step = Self.isSoak ? 1 : syncs / 2
    var point = Self.isSoak ? 1 : step / 2
    var wasCut = true
    var cuts = 0
    while wasCut, Self.isSoak || point <= syncs {
      let job = try FaultyJob(kind, files: Self.files, at: receiver, label: "\(survival)-\(point)")
      wasCut = try await cut(job, before: point, survival)
      cuts += wasCut ? 1 : 0
      point += step
    }
    if Self.isSoak { print("soak: \(kind): the power was cut \(cuts) times, survived by \(survival)") }
  }

  /// - Returns: whether the run has reached this sync.
  private func cut(
    _ job: FaultyJob, before point: Int, _ survival: StateRecording.Survival
  ) async throws -> Bool {
    // After the restart, the machine has another boot ID.
    let boot = job.job.folder.path("boot")
    try Data("6b7f2ef6-5f62-4f1d-9a3c-1f6a2d1f0c11\n".utf8).write(to: URL(filePath: boot))
    let end = await (try await job.start(["KILL": "\(point)", "BYTES": "1", "BOOT": boot])).end()
    let recording = try job.recording()
    guard recording.wasKilled else {
      #expect(end.status == 0, "\(end.stderr)")
      return false
    }
    #expect(end.status == 128 + SIGKILL, "\(end.stderr)")
    let moment = "\(job.title)"
    // Rebuilds a state folder with only the synced data, which must survive in any case.
    let least = try TemporaryFolder()
    try recording.rebuild(.none, at: least.path("state"), seed: 0)
    let sure = try await RecordedItems.read(session: FaultyJob.session, state: least.path("state"))
    try FileManager.default.removeItem(atPath: job.job.state)
    try recording.rebuild(survival, at: job.job.state, seed: UInt64(point))
    let left = try await job.recorded()
    #expect(left.integrity == "ok", "\(moment)")
    #expect(left.names(.done).isSuperset(of: sure.names(.done)), "\(moment)")
    if job.kind == .posts {
      // If a file was sent, at least its intent must have been on disk before.
      for name in try await job.deliveries().keys {
        let isSure = sure.intents.contains(name) || [.done, .ambiguous].contains(sure.states[name])
        #expect(isSure, "\(moment): \(name) was sent before its intent was on the disk")
      }
    }
    try await job.finish(moment)
    return true
  }
}
