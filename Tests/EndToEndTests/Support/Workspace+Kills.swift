import Foundation

extension Workspace {
  /// Runs the job until a run ends. Each earlier run is killed with SIGKILL at a random moment of a request.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of kills.
  ///   - requests: how many further requests must have been received before a kill.
  ///   - milliseconds: the time between the last of these requests and the kill.
  ///   - received: the number of requests that have been received.
  /// - Returns: the number of kills, and the run that has ended.
  func runWithKills(
    atMost limit: Int, after requests: ClosedRange<Int>, in milliseconds: Range<Int>, seed: UInt64,
    arguments: [String] = [], environment: [String: String] = [:], received: () async throws -> Int
  ) async throws -> (kills: Int, end: Command) {
    var random = SplitMix(seed: seed)
    var kills = 0
    while true {
      let enough = try await received() + requests.lowerBound + Int(random.next() % UInt64(requests.count))
      let run = try start(["run", "job.yaml", "--quiet"] + arguments, environment: environment)
      while run.isRunning, try await received() < enough { try await Task.sleep(for: .milliseconds(5)) }
      let pause = milliseconds.lowerBound + Int(random.next() % UInt64(milliseconds.count))
      try await Task.sleep(for: .milliseconds(pause))
      guard kills < limit, run.isRunning else { return (kills, await run.end()) }
      run.signal(SIGKILL)
      _ = await run.end()
      kills += 1
    }
  }
}
