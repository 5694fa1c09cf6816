import FerryEngine
import FerryPlan
import Foundation

/// One launch with its words to people.
struct RunCommand {
  let options: RunOptions

  /// The process's exit code.
  func run(_ job: Job, _ launch: Launch.Options) throws -> ExitCode {
    guard job.notBuilt.isEmpty else {
      // What they are was told when the manifest was read.
      Output.complain("ferry: \(job.path) asks for what this ferry cannot do yet; nothing was begun")
      return .invalidManifest
    }
    var launch = launch
    let environment = ProcessInfo.processInfo.environment
    launch.launch = options.launch ?? (Output.isInteractive ? .foreground : .background)
    launch.patience = options.wait ?? .zero
    launch.syncDelay = SyncDelay.read(environment)
    let progress = ProgressLine(isQuiet: options.quiet)
    let ending = try Launch(job, options: launch, environment: environment, version: Ferry.version).run(
      notice: { Output.complain("ferry: \($0)") },
      warn: { warnings in if !options.quiet { Output.warn(warnings, of: job) } },
      onProgress: { progress.show($0) })
    progress.clear()
    switch ending {
    case .inUse(let session, let pid):
      if options.skipIfRunning { return .success }
      let holder = pid.map { "process \($0)" } ?? "another process"
      Output.complain(
        "ferry: the session \(session) is in use by \(holder)\nhelp: wait for it, or use --skip-if-running")
      return .sessionInUse
    case .ran(let record, let report):
      if !options.quiet {
        let text = ReportText.text(record) + "  report: \(report)\n"
        // With --report - the standard output is the report's.
        if launch.report == "-" { Output.complain(text) } else { Output.produce(text) }
      } else if record.run.exitCode != 0 {
        Output.complain(ReportText.text(record))
      }
      let code = ExitCode(rawValue: record.run.exitCode) ?? .fault
      return code == .deferred && options.deferredOk ? .success : code
    }
  }
}

/// The bench's knob: `FERRY_SYNC_DELAY=5ms` makes the disk as slow as that.
enum SyncDelay {
  static func read(_ environment: [String: String]) -> Duration {
    guard let text = environment["FERRY_SYNC_DELAY"], text.hasSuffix("ms"), let number = Int(text.dropLast(2))
    else { return .zero }
    return .milliseconds(number)
  }
}
