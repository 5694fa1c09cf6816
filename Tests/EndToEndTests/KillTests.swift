import Foundation
import Testing

/// SIGKILL at random moments of jobs with tokens and upload IDs that expire, against a server with faults.
///
/// FERRY_SOAK_KILLS is the number of kills for each kind of job, and FERRY_SEED the first seed. By default,
/// scripts/soak performs 1,000 kills in rounds of twenty.
@Suite struct `A job that is killed repeatedly` {
  private static let isSoak = number("FERRY_SOAK_KILLS") != nil
  private static let kills = number("FERRY_SOAK_KILLS").map { Int($0) } ?? 4
  private static let seed = number("FERRY_SEED") ?? 2026

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  @Test(arguments: KillKind.allCases)
  func `delivers every file once, and never resends a file whose outcome was recorded`(_ kind: KillKind)
    async throws
  {
    let began = ContinuousClock.now
    let first = Self.seed &* 1_000_000
    var random = SplitMix(seed: first)
    var kills = 0
    var jobs: UInt64 = 0
    while kills < Self.kills {
      let trial = try await KillTrial(
        kind, files: Self.isSoak ? 120 : 40, lateness: 0.004, seed: first &+ jobs)
      jobs += 1
      while kills < Self.kills {
        let words = Bool.random(using: &random) ? ["run", "job.yaml", "--quiet"] : ["resume", "--quiet"]
        let run = try trial.job.start(words)
        try await Task.sleep(for: Self.delay(&random))
        run.signal(SIGKILL)
        let end = await run.end()
        guard end.status == 128 + SIGKILL else {
          // The run exited before the kill. `ferry resume` in the first launch may have nothing to resume.
          #expect([0, 1, 5].contains(end.status), "\(kind): \(end.stderr)")
          if words[0] == "resume" && trial.isNew { continue }
          break
        }
        trial.isNew = false
        kills += 1
        try await trial.check("kill \(kills)")
      }
      try await trial.finish()
    }
    guard Self.isSoak else { return }
    let seconds = began.duration(to: .now).components.seconds
    print("soak: \(kind): \(kills) kills of \(jobs) jobs in \(seconds) s, FERRY_SEED=\(Self.seed)")
  }

  /// The delay before a run is killed. Some runs are killed during their start, and most during their requests.
  private static func delay(_ random: inout SplitMix) -> Duration {
    .milliseconds(
      Int.random(in: 0...4, using: &random) == 0
        ? Int.random(in: 0...80, using: &random) : Int.random(in: 40...400, using: &random))
  }
}
