import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// One launch with its words to people.
struct RunCommand {
  let options: RunOptions

  /// A clean slate: what is left of the last round is dropped.
  ///
  /// - Returns: the exit code where that cannot be, as another process has a session.
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
        Output.complain("ferry: --fresh dropped \(session.items) items of the session \(session.session)")
      }
      return nil
    }
  }

  private func complain(ofUse session: SessionInUse) -> ExitCode {
    if options.skipIfRunning { return .success }
    Output.complain(
      "ferry: \(LockOptions.text(session))\n"
        + "help: wait for it with --wait-lock DURATION, or use --skip-if-running")
    return .sessionInUse
  }

  /// - Returns: the process's exit code, and the session for which nothing was begun, where another process has it.
  ///
  /// - Parameter waits: whether it has the patience that was asked for with sessions that another process has.
  func run(
    _ jobs: Jobs, _ launch: Launch.Options, waits: Bool = true
  ) throws -> (code: ExitCode, busy: SessionInUse?) {
    let refused = jobs.all.filter { !$0.notBuilt.isEmpty }
    guard refused.isEmpty else {
      // What they are was told when the manifest was read.
      for job in refused {
        Output.complain("ferry: \(job.path) asks for what this ferry cannot do yet; nothing was begun")
      }
      return (.invalidManifest, nil)
    }
    var launch = launch
    let environment = ProcessInfo.processInfo.environment
    launch.launch = options.launch ?? (Output.isInteractive ? .foreground : .background)
    launch.patience = options.wait ?? .zero
    launch.lockPatience = waits ? options.lock.patience(isQuiet: options.quiet) : LockPatience()
    launch.syncDelay = SyncDelay.read(environment)
    let progress = ProgressLine(isQuiet: options.quiet)
    let ending = try Launch(jobs, options: launch, environment: environment, version: Ferry.version).run(
      notice: { Output.complain("ferry: \($0)") },
      warn: { warnings in if !options.quiet { Output.warn(warnings, of: jobs) } },
      onProgress: { progress.show($0) })
    progress.clear()
    let status = try PastedCommand.line(["status"], state: launch.state, environment: environment)
    switch ending {
    case .inUse(let session):
      // Who comes back for it has nothing to complain of yet.
      return (waits ? complain(ofUse: session) : .sessionInUse, session)
    case .ran(let record, let report):
      if !options.quiet {
        let text = ReportText.text(record, status: status) + "  report: \(report)\n"
        // With --report - the standard output is the report's.
        if launch.report == "-" { Output.complain(text) } else { Output.summarize(text) }
      } else if record.run.exitCode != 0 {
        Output.complain(ReportText.text(record, status: status))
      }
      let code = ExitCode(rawValue: record.run.exitCode) ?? .fault
      return (code == .deferred && options.deferredOk ? .success : code, nil)
    }
  }
}

/// The bench's knob: `FERRY_SYNC_DELAY=5ms` makes the disk as slow as that, by an hour at most.
enum SyncDelay {
  static func read(_ environment: [String: String]) -> Duration {
    // Only the bench sets it: what is not a duration is no delay.
    guard let text = environment["FERRY_SYNC_DELAY"], let delay = try? Duration(written: text) else {
      return .zero
    }
    return min(delay, .seconds(3600))
  }
}
