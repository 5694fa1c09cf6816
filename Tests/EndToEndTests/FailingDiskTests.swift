import Foundation
import Testing

/// The nth write, truncation or sync in the state folder fails. With ENOSPC, all later operations fail as well.
///
/// If FERRY_SOAK_KILLS is set, as by scripts/soak, every n is tested.
@Suite(
  .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere }
) struct `A state folder on a failing disk` {
  private static let isSoak = ProcessInfo.processInfo.environment["FERRY_SOAK_KILLS"] != nil

  @Test(arguments: FaultyJob.Kind.allCases, ["EIO", "ENOSPC"])
  func `makes a run exit with 70, and nothing is lost or repeated`(_ kind: FaultyJob.Kind, error: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let whole = try FaultyJob(kind, files: 8, at: receiver, label: "\(error)-whole")
    let clean = await (try whole.start([:])).end()
    #expect(clean.status == 0, "\(clean.stderr)")
    let count = try whole.recording().count
    try await whole.finish("without a fault")

    let step = Self.isSoak ? 1 : count / 3
    var point = Self.isSoak ? 1 : step / 2 + error.utf8.count
    var isReached = true
    var faults = 0
    while isReached, Self.isSoak || point <= count {
      let job = try FaultyJob(kind, files: 8, at: receiver, label: "\(error)-\(point)")
      isReached = try await fail(job, at: point, with: error)
      faults += isReached ? 1 : 0
      point += step
    }
    if Self.isSoak { print("soak: \(kind): \(error) at each of \(faults) operations") }
  }

  /// - Returns: whether the run has reached the failing operation.
  private func fail(_ job: FaultyJob, at point: Int, with error: String) async throws -> Bool {
    let run = try await job.start([
      "FAIL": "\(point)", "ERROR": error, "STAYS": error == "ENOSPC" ? "1" : "0",
    ])
    let end = await run.end()
    guard let failure = try job.recording().failure else {
      #expect(end.status == 0, "\(end.stderr)")
      return false
    }
    let what = String(decoding: failure.bytes, as: UTF8.self)
    let moment = "\(job.title): \(what) of \(failure.path)"
    if end.status == 70 {
      #expect(end.stderr.contains("help: "), "\(moment): \(end.stderr)")
      // The message describes the error of the disk.
      let words =
        error == "ENOSPC" ? ["space", "reading or writing"] : ["reading or writing", "I/O", "Input"]
      #expect(words.contains { end.stderr.contains($0) }, "\(moment): \(end.stderr)")
    } else {
      // The run did not depend on the failed operation, and no file is missing.
      #expect(end.status == 0, "\(moment): \(end.status) \(end.stderr)")
      #expect(try await job.deliveries().count == 8, "\(moment)")
    }
    try await job.checkNothingUntold(moment)
    try await job.finish("\(moment), and then")
    return true
  }
}
