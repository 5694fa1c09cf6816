import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry resume`: resumes every job whose round is open.
struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Resume the unfinished work of earlier runs.")

  @Argument(help: "Resume only manifests that use one of these sessions.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var options: RunOptions

  func run() throws {
    let started = ContinuousClock.now
    let environment = ProcessInfo.processInfo.environment
    var jobs: [Job] = []
    var codes: Set<FerryPlan.ExitCode> = []
    let again = try state.command("run", "NEWPATH")
    for open in try OpenJobs.find(state: state.state, environment: environment) {
      do throws(ManifestSource.Failure) {
        jobs.append(try ManifestSource(path: open.path, variables: open.variables).readable())
      } catch {
        // The other jobs are still run.
        if error.code == .usage {
          Output.complain(
            "help: if the manifest has moved, resume the round of '\(open.manifest)' from its new path with: "
              + again)
        }
        codes.insert(error.code)
      }
    }
    if !sessions.isEmpty {
      try OpenJobs.check(sessions, of: jobs, state: state.state, environment: environment)
      jobs.removeAll { !sessions.contains(where: $0.has) }
    }
    // Before the first launch, because a launch writes to these files.
    try RunCommand(options: options).checkFiles(of: jobs)
    let isNothingOpen = jobs.isEmpty && codes.isEmpty
    // Jobs whose session another process is using run last, so that the other jobs do not wait for that session.
    var busy: [Job] = []
    for group in Jobs.groups(jobs) {
      codes.formUnion(try carryOut(group, since: started) { busy.append(contentsOf: $0) })
    }
    for group in Jobs.groups(busy) { codes.formUnion(try carryOut(group, since: started)) }
    if isNothingOpen, !options.quiet { try Output.produce("nothing to resume\n") }
    throw ArgumentParser.ExitCode(FerryPlan.ExitCode.first(of: codes).rawValue)
  }

  /// Runs the group in one launch, except for the jobs whose session another process is using.
  ///
  /// - Parameter putOff: receives these jobs, so that they can be run later. If `nil`, the launch waits for their
  ///   sessions.
  private func carryOut(
    _ group: Jobs, since started: ContinuousClock.Instant, putOff: (([Job]) -> Void)? = nil
  ) throws -> Set<FerryPlan.ExitCode> {
    var codes: Set<FerryPlan.ExitCode> = []
    var rest: Jobs? = group
    while let jobs = rest {
      var launch = Launch.Options()
      launch.state = state.state
      // The limit applies to all groups together.
      launch.maxDuration = options.maxDuration.map { $0 - started.duration(to: .now) }
      if let left = launch.maxDuration, left <= .zero {
        if !options.quiet {
          for job in jobs.all {
            Output.complain("ferry: \(job.path) was not started: --max-duration has elapsed")
          }
        }
        codes.insert(.cutOff)
        break
      }
      launch.network = conditions.network
      launch.power = conditions.power
      let (code, busy) = try RunCommand(options: options).run(jobs, launch, waits: putOff == nil)
      rest = try busy.flatMap { try jobs.without(session: $0.session) }
      if busy != nil, let putOff {
        let left = Set((rest?.all ?? []).map(\.path))
        putOff(jobs.all.filter { !left.contains($0.path) })
      } else {
        codes.insert(code)
      }
    }
    return codes
  }
}
