import ArgumentParser
import FerryWorld
import Foundation

/// Lives random worlds for a while, and tells what broke.
@main
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ferry-simulate",
    abstract: "Let the scheduler live in random worlds, and hold its rules against what it does.")

  @Option(help: "The first world's seed.")
  var seed: UInt64 = 0

  @Option(help: "How many seconds to go on.")
  var seconds: Double?

  @Option(help: "How many worlds to live, where no time is given.")
  var worlds: UInt64 = 1_000

  @Option(help: "Go on until the scheduler has taken so many events.")
  var events: Int?

  @Option(help: "Worlds at once.")
  var threads: Int = ProcessInfo.processInfo.activeProcessorCount

  @Option(help: "Stop after so many failures.")
  var failures: Int = 3

  @Flag(help: "Tell the whole history of the first world.")
  var history = false

  mutating func run() async throws {
    if history { return tell() }
    let begin = ContinuousClock.now
    let (first, last): (UInt64, UInt64) = (seed, seconds == nil && events == nil ? seed + worlds : .max)
    let end = seconds.map { begin + .seconds($0) }
    let share = events.map { $0 / max(1, self.threads) }
    let (threads, failures) = (UInt64(max(1, threads)), failures)
    // Each takes every n-th manifest; a seed is the same world on any number of threads.
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

  private func tell() {
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
