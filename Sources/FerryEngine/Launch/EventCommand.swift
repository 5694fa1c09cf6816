import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import FerryTransfer
import Foundation

/// `on_events`: a session's command, started when a batch of the session has completed.
///
/// The command gets a small environment (`ChildEnvironment`), without the variables from which the secrets
/// of this run are read.
struct EventCommand {
  let jobs: Jobs
  let state: StateDirectory
  /// The environment of this process.
  let environment: [String: String]

  /// How long a run waits for the end of a command.
  private static let patience = Duration.seconds(10)

  /// A command that was started, or could not be.
  struct Started {
    var record: RunRecord.EventCommandRecord
    var process: pid_t?
  }

  /// Starts the pending commands, each at least once. A command counts as started once its process exists.
  func startOwed(_ journals: SessionJournals, report: String) throws -> [Started] {
    var all: [Started] = []
    for session in try journals.owedEvents {
      let command = jobs.plan.sessions[session.index].onEvents
      if !command.isEmpty, let folder = jobs.job(of: session)?.folder {
        var started = Started(
          record: .init(session: jobs.plan.sessions[session.index].name, command: command[0]))
        do {
          started.process = try start(
            command, in: folder, session: jobs.plan.sessions[session.index].identifier, report: report)
          all.append(started)
        } catch {
          started.record.problem = "\(error)"
          all.append(started)
          continue
        }
      }
      try journals.all[session.index]?.clearEvents()
    }
    return all
  }

  /// Waits for the end of the commands, for all of them together as long as `patience`. The run holds no session
  /// meanwhile, so that a command may start another run.
  ///
  /// - Parameter remaining: the time that remains of `--max-duration`; at least one second is waited.
  static func wait(for commands: [Started], remaining: Duration?) -> [RunRecord.EventCommandRecord] {
    let limit = min(patience, max(remaining ?? patience, .seconds(1)))
    let deadline = DeadlineCondition.now + limit.nanoseconds
    return commands.map { command in
      var record = command.record
      guard let process = command.process else { return record }
      switch ChildProgram.wait(for: process, until: deadline) {
      case .exited(let status): record.exitStatus = status
      case .terminated(let signal): record.signal = signal
      case nil: record.isRunning = true
      }
      return record
    }
  }

  /// - Parameter folder: the manifest's folder.
  private func start(_ command: [String], in folder: String, session: String, report: String) throws -> pid_t
  {
    var program = ChildProgram(
      path: try resolved(command[0], in: folder), arguments: Array(command.dropFirst()),
      environment: ChildEnvironment.variables(of: environment, withheld: secretVariables), folder: folder)
    // The state folder's path may be relative, and the command runs in a different folder.
    program.environment["FERRY_REPORT"] = AbsolutePath.text(of: report)
    program.environment["FERRY_SESSION"] = session
    program.environment["FERRY_STATE"] = AbsolutePath.text(of: state.path)
    // ferry's own standard output is reserved for the report.
    program.output = .standardError
    program.error = .standardError
    return try program.start()
  }

  /// The environment variables from which the secrets of this run are read.
  private var secretVariables: Set<String> {
    Set(
      jobs.all.flatMap(\.manifest.secrets).compactMap { secret in
        switch secret.source {
        case .environment(let name): name
        case .file: nil
        }
      })
  }

  /// Resolves a command's name. A name with a slash is relative to the manifest's folder; any other name is
  /// searched for in PATH.
  private func resolved(_ name: String, in folder: String) throws(UsageError) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) {
      let path = name.utf8.first == UInt8(ascii: "/") ? name : folder + "/" + name
      do throws(FolderPath.Failure) {
        close(try FolderPath.file(Array(path.utf8), for: .looking))
        return path
      } catch {
        throw UsageError(error.reason)
      }
    }
    for directory in (environment["PATH"] ?? "/usr/bin:/bin").utf8.split(separator: UInt8(ascii: ":")) {
      let path = "\(Substring(directory))/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw UsageError("it is not in PATH")
  }
}
