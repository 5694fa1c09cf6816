import ArgumentParser
import FerryWorld
import Foundation

/// Simulates random worlds, and reports violated rules.
@main
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ferry-simulate",
    abstract: "Run the scheduler in random simulated worlds, and report violated rules.")

  @Option(help: "Seed of the first world.")
  var seed: UInt64 = 0

  @Option(help: "Stop after this many seconds.")
  var seconds: Double?

  @Option(help: "Number of worlds, if neither --seconds nor --events is given.")
  var worlds: UInt64 = 1_000

  @Option(help: "Stop after this many scheduler events.")
  var events: Int?

  @Option(help: "Number of worlds that run in parallel.")
  var threads: Int = ProcessInfo.processInfo.activeProcessorCount

  @Option(help: "Stop after this many failures.")
  var failures: Int = 3

  @Flag(help: "Print the complete history of the first world.")
  var history = false

  mutating func run() async throws {
    if history { return printHistory() }
    let begin = ContinuousClock.now
    let (first, last): (UInt64, UInt64) = (seed, seconds == nil && events == nil ? seed + worlds : .max)
    let end = seconds.map { begin + .seconds($0) }
    let share = events.map { $0 / max(1, self.threads) }
    let (threads, failures) = (UInt64(max(1, threads)), failures)
    // Each thread runs every n-th manifest. A seed produces the same world with any number of threads.
    let total = await withTaskGroup(of: (Campaign, UInt64).self) { group in
      for thread in 0..<threads {
        group.addTask {
          var campaign = Campaign()
          var next = first
          while next < last, campaign.failures.count < failures {
            if let end, ContinuousClock.now >= end { break }
            if let share, campaign.events >= share { break }
            if next / Scenario.sharing % threads == thread { campaign.live(next, isTwice: next % 16 == 0) }
            next += 1
          }
          return (campaign, next)
        }
      }
      var total = Campaign()
      var next = first
      for await (campaign, reached) in group {
        total += campaign
        next = max(next, reached)
      }
      return (total, next)
    }
    report(total.0, last: total.1, after: ContinuousClock.now - begin)
    if !total.0.failures.isEmpty { throw ExitCode(1) }
  }

  private func printHistory() {
    guard let outcome = WorldRun.outcome(of: Scenario(seed: seed), tellsHistory: true) else { return }
    print(Scenario(seed: seed).manifest.yaml)
    for line in outcome.history { print(line) }
  }

  private func report(_ campaign: Campaign, last: UInt64, after elapsed: Duration) {
    for failure in campaign.failures.sorted(by: { $0.seed < $1.seed }) {
      print("\nseed \(failure.seed): \(failure.violation.rule.rawValue), \(failure.history.count) events")
      print("\(failure.violation.message)\n")
      print(failure.scenario.manifest.yaml)
      for line in failure.history { print(line) }
    }
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    let rate = Int((Double(campaign.worlds) / max(seconds, 0.001)).rounded())
    let days = campaign.simulated.components.seconds / 86_400
    print(
      """
      simulate: seeds \(seed) to \(last - 1), \(campaign.worlds) worlds (\(rate)/s), \(campaign.launches) launches, \
      \(campaign.deaths) deaths, \(campaign.requests) requests, \(campaign.events) events, \
      \(campaign.actions) actions, \(days) days in \((seconds * 10).rounded() / 10) s, \
      \(campaign.failures.count) failures
      """)
  }
}
