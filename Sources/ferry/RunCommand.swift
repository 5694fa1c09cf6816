import FerryEngine
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// One launch, with its messages.
struct RunCommand {
  let options: RunOptions

  /// Checks that no output replaces a manifest, another file of the command line or another output.
  ///
  /// - Parameter inputs: the paths of further inputs, with their options.
  func checkFiles(
    of jobs: [Job], _ reports: [ReportRequest] = [], inputs: [(name: String, path: String)] = []
  ) throws {
    try ReportDestination.checkAreDifferent(
      options.observation.files + reports.map { ("--report", $0.path) },
      inputs: jobs.map { ("the manifest", $0.path) } + inputs)
  }

  /// Drops the unfinished work of the last round.
  ///
  /// - Returns: an exit code if nothing was dropped because another process is using a session.
  func reset(_ jobs: Jobs, state: String?, dropsUnanswered: Bool) throws -> ExitCode? {
    let sessions = jobs.plan.sessions.filter { $0.kind != .ephemeral }.map(\.identifier)
    let reset = try SessionReset(
      state: state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try reset.reset(
      sessions: sessions, areKnown: false, dropsUnanswered: dropsUnanswered,
      patience: options.lock.patience(isQuiet: options.quiet))
    {
    case .inUse(let session): return complain(ofUse: session)
    case .unanswered(let steps):
      throw UsageError(UnansweredText.text(steps, instead: "ferry run without --fresh resumes them"))
    case .reset(let dropped):
      for session in dropped where session.items > 0 && !options.quiet {
        Output.complain(
          "ferry: --fresh dropped \(Count.text(session.items, "item")) of session '\(session.session)'")
      }
      return nil
    }
  }

  private func complain(ofUse session: SessionInUse) -> ExitCode {
    if options.skipIfRunning { return .success }
    Output.complain(
      "ferry: \(LockOptions.text(session))\n"
        + "help: wait for the session with --wait-lock DURATION, or use --skip-if-running")
    return .sessionInUse
  }

  /// Runs the jobs and prints the results.
  ///
  /// - Parameter waits: whether to wait, as specified by `--wait-lock`, for a session that another process is using.
  /// - Returns: the exit code; and, in `busy`, the session that another process is using if nothing was started for
  ///   that reason.
  func run(
    _ jobs: Jobs, _ launch: Launch.Options, waits: Bool = true
  ) throws -> (code: ExitCode, busy: SessionInUse?) {
    var launch = launch
    let environment = ProcessInfo.processInfo.environment
    launch.launch = options.launch ?? (Output.isInteractive ? .foreground : .background)
    launch.patience = options.wait ?? .zero
    launch.acceptsCancelled = options.cancelledOk
    launch.lockPatience = waits ? options.lock.patience(isQuiet: options.quiet) : LockPatience()
    launch.syncDelay = SyncDelay.read(environment)
    launch.files += (options.observation.files.map(\.path) + launch.reports.map(\.path)).filter { $0 != "-" }
    let progress = ProgressDisplay(isQuiet: options.quiet, interval: options.observation.progressInterval)
    launch.refresh = progress.refresh
    let observers = try options.observation.observers()
    func tell(_ text: String) {
      MessageStream.standardError.prepare()
      progress.clear()
      Output.complain(text)
    }
    func take(_ event: borrowing RunEvent) { observers.take(event) { tell("ferry: \($0)") } }
    func endObservation() {
      MessageStream.standardOutput.prepare()
      progress.end()
      for problem in observers.finish() { tell("ferry: warning: \(problem)") }
    }
    let ending: Launch.Ending
    do {
      ending = try Launch(jobs, options: launch, environment: environment, version: Ferry.version).run(
        notice: { tell("ferry: \($0)") },
        warn: { warnings in
          MessageStream.standardError.prepare()
          progress.clear()
          if !options.quiet { Output.warn(warnings, of: jobs) }
        },
        onProgress: { figures, details in
          MessageStream.standardError.prepare()
          progress.show(figures, details)
        },
        onEvent: observers.isNeeded ? take : nil, onTrace: observers.isTracing ? { observers.take($0) } : nil,
        flushEvents: { observers.flush() })
    } catch {
      // The events before the failure show what the run has done.
      endObservation()
      throw error
    }
    endObservation()
    func command(_ words: String...) throws -> String {
      try ShellCommand.line(words, state: launch.state, environment: environment)
    }
    switch ending {
    case .inUse(let session):
      // If the caller does not wait now, it tries again later, so a session in use is not an error yet.
      return (waits ? complain(ofUse: session) : .sessionInUse, session)
    case .passEnded(let pass):
      if !options.quiet {
        Output.complain(
          "ferry: the pass over the shards has ended, and finish sends nothing more\nhelp: begin the next pass with: "
            + pass.setup)
      }
      return (pass.exitCode, nil)
    case .ran(let source, let report):
      let record = source.record
      let commands = RunSummary.Commands(
        status: try StatusCommand.line(for: record, state: launch.state, environment: environment),
        resume: try jobs.resumeCommand(part: launch.part, state: launch.state, environment: environment),
        report: try command("report", record.run.id))
      func summary() throws -> String {
        try RunSummary(source, commands: commands, report: report).text
      }
      if !options.quiet {
        // With `--report -`, standard output is reserved for the report.
        if launch.reports.contains(where: { $0.path == "-" }) || options.observation.events == "-" {
          Output.complain(try summary())
        } else {
          Output.summarize(try summary())
        }
      } else if record.run.exitCode != 0 {
        Output.complain(try summary())
      }
      let code = ExitCode(rawValue: record.run.exitCode) ?? .fault
      return (code == .deferred && options.deferredOk ? .success : code, nil)
    }
  }
}

/// A minimum duration for each sync, for benchmarks: `FERRY_SYNC_DELAY=5ms`. The maximum is one hour.
enum SyncDelay {
  static func read(_ environment: [String: String]) -> Duration {
    // Only benchmarks set this variable, so an invalid duration is ignored.
    guard let text = environment["FERRY_SYNC_DELAY"], let delay = try? Duration(written: text) else {
      return .zero
    }
    return min(delay, .seconds(3600))
  }
}
