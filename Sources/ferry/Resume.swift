import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry resume`: goes on with every job whose round is open.
struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Go on with what was interrupted, or left for later.")

  @Argument(help: "Only jobs with one of these sessions.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var options: RunOptions

  func run() throws {
    let started = ContinuousClock.now
    let environment = ProcessInfo.processInfo.environment
    let jobs = try OpenJobs.find(state: state.state, environment: environment)
    var codes: Set<FerryPlan.ExitCode> = []
    var hasFound = false
    for open in jobs {
      let job = try ManifestSource(path: open.path, variables: open.variables).job()
      guard sessions.isEmpty || !Set(job.plan.sessions.map(\.identifier)).isDisjoint(with: sessions) else {
        continue
      }
      hasFound = true
      var launch = Launch.Options()
      launch.state = state.state
      // All of them together have that long.
      launch.maxDuration = options.maxDuration.map { $0 - started.duration(to: .now) }
      if let rest = launch.maxDuration, rest <= .zero {
        if !options.quiet {
          Output.complain("ferry: \(open.path) was not begun: --max-duration has passed")
        }
        codes.insert(.cutOff)
        continue
      }
      launch.network = conditions.network
      launch.power = conditions.power
      codes.insert(try RunCommand(options: options).run(job, launch))
    }
    if !hasFound, !options.quiet { Output.produce("nothing to resume\n") }
    throw ArgumentParser.ExitCode(FerryPlan.ExitCode.first(of: codes).rawValue)
  }
}
