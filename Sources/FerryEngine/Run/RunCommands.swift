import FerryJournal
import FerryPlan
import FerryProcess
import Foundation

/// The commands of a run: `on_events` of its sessions, and `on_expiry` of its execution window.
///
/// At most one command of a session runs at a time. Batches that complete in the meantime share the next start. A batch
/// counts only after its completion is on disk, and a start covers all batches that were recorded before it. The caller
/// clears the journal's `events_pending` after a start, so each batch is followed by at least one start.
///
/// Used by the run loop's thread and, after the loop, by the thread that ends the run.
final class RunCommands {
  /// A command that was started, or that could not be started.
  private struct Start {
    /// The command's session; `nil` for `on_expiry`.
    var session: SessionID?
    var record: RunRecord.CommandRecord
    /// The process ID; `nil` after the process has ended.
    var process: pid_t?
  }

  /// The maximum total time for which a run waits for its commands to end.
  private static let patience = Duration.seconds(10)

  private var program: CommandStart
  private let clock: LaunchClock
  private let notice: (String) -> Void
  private var starts: [Start] = []
  /// The indices of the starts that have not ended.
  private var running: Set<Int> = []
  /// Sessions with batches for which no command has been started yet, with the record of the first of these batches.
  private var due: [SessionID: UInt64]
  private var synced: UInt64 = 0
  /// Sessions whose command cannot be started, with the warning. The end of the run tries again.
  private var failed: [SessionID: String] = [:]
  /// The end of the execution window; `nil` if there is none.
  var windowEndsAt: Instant?
  /// The time at which the end of the run stops waiting for commands; `nil` until it starts waiting.
  private var waitsUntil: Int64?

  /// - Parameters:
  ///   - owed: the sessions whose `on_events` is pending from an earlier run.
  ///   - notice: receives the warnings.
  init(_ program: CommandStart, owed: [SessionID], clock: LaunchClock, notice: @escaping (String) -> Void) {
    self.program = program
    self.clock = clock
    self.notice = notice
    due = Dictionary(uniqueKeysWithValues: owed.map { ($0, 0) })
  }

  // MARK: During the run

  /// Replaces the jobs after other manifests have joined the run. From then on, commands also do not receive
  /// the variables from which the secrets of those manifests are read.
  func join(_ jobs: Jobs) { program.jobs = jobs }

  func batchCompleted(_ session: SessionID, in record: UInt64) {
    if due[session] == nil { due[session] = record }
  }

  func synced(through record: UInt64) { synced = record }

  /// Starts the commands of batches that have completed; returns the sessions whose commands were started.
  func startDue() -> [SessionID] {
    due.filter { $0.value <= synced && failed[$0.key] == nil && !isRunning($0.key) }.keys
      .sorted { $0.index < $1.index }.filter { session in
        let start = start(session, variables: [:])
        if let failure = start.record.failure {
          failed[session] = failure
          notice("warning: \(failure)")
          return false
        }
        due[session] = nil
        append(start)
        return true
      }
  }

  /// Starts `on_expiry`. If this fails, it is not retried, because a window ends only once.
  func startOnExpiry() {
    let command = program.jobs.plan.policies.executionWindow.onExpiry
    guard !command.isEmpty else { return }
    var start = Start(record: .init(session: nil, command: command[0]))
    launch(&start, command, in: program.jobs.all[0].folder, variables: [:])
    if let failure = start.record.failure { notice("warning: \(failure)") }
    append(start)
  }

  /// Records the results of commands that have ended, and warns of failed ones.
  func takeEndings() {
    for index in running.sorted() {
      guard let process = starts[index].process, let ending = ChildProgram.ending(of: process) else {
        continue
      }
      take(ending, of: index)
    }
  }

  // MARK: At the end of the run

  /// Starts the pending commands. If a command of the same session is still running, first waits for it to end. Calls
  /// `clear` after each successful start.
  ///
  /// - Parameters:
  ///   - owed: the sessions whose `on_events` is pending in the journal.
  ///   - report: the report's path.
  ///   - remaining: the time that remains of `--max-duration`.
  ///   - isStopped: if it returns true, the wait ends.
  func startOwed(
    _ owed: [SessionID], report: String, remaining: Duration?, unless isStopped: () -> Bool = { false },
    clear: (SessionID) throws -> Void
  ) throws {
    let deadline = deadline(remaining)
    for session in owed {
      guard !program.jobs.plan.sessions[session.index].onEvents.isEmpty else {
        try clear(session)
        continue
      }
      for index in running where starts[index].session == session {
        wait(forStart: index, until: deadline, unless: isStopped)
      }
      if let index = running.first(where: { starts[$0].session == session }) {
        notice("warning: \(starts[index].record.title) is still running; the next run will start it again")
        continue
      }
      let start = start(session, variables: ["FERRY_REPORT": AbsolutePath.text(of: report)])
      append(start)
      if let failure = start.record.failure {
        if failed[session] != failure { notice("warning: \(failure)") }
      } else {
        try clear(session)
      }
    }
  }

  /// Waits for the commands to end, and returns the records of all commands. The run holds no session during the
  /// wait, so a command may start another run.
  ///
  /// - Parameters:
  ///   - remaining: the time that remains of `--max-duration`. The wait lasts up to one second even if less time
  ///     remains.
  ///   - isStopped: if it returns true, the wait ends.
  func finish(
    remaining: Duration?, unless isStopped: () -> Bool = { false }
  ) -> [RunRecord.CommandRecord] {
    let deadline = deadline(remaining)
    for index in running.sorted() { wait(forStart: index, until: deadline, unless: isStopped) }
    return starts.map { start in
      var record = start.record
      if start.process != nil { record.isRunning = true }
      return record
    }
  }

  private func deadline(_ remaining: Duration?) -> Int64 {
    if let waitsUntil { return max(waitsUntil, DeadlineCondition.now + Duration.seconds(1).nanoseconds) }
    let limit = min(Self.patience, max(remaining ?? Self.patience, .seconds(1)))
    let deadline = DeadlineCondition.now + limit.nanoseconds
    waitsUntil = deadline
    return deadline
  }

  private func wait(forStart index: Int, until deadline: Int64, unless isStopped: () -> Bool) {
    guard let process = starts[index].process,
      let ending = ChildProgram.wait(for: process, until: deadline, unless: isStopped)
    else { return }
    take(ending, of: index)
  }

  // MARK: Starts

  private func isRunning(_ session: SessionID) -> Bool {
    running.contains { starts[$0].session == session }
  }

  private func append(_ start: Start) {
    if start.process != nil { running.insert(starts.count) }
    starts.append(start)
  }

  private func start(_ session: SessionID, variables: [String: String]) -> Start {
    let declared = program.jobs.plan.sessions[session.index]
    var start = Start(
      session: session, record: .init(session: declared.name, command: declared.onEvents[0]))
    guard let folder = program.jobs.job(of: session)?.folder else {
      preconditionFailure("only sessions of manifests have batches")
    }
    launch(
      &start, declared.onEvents, in: folder,
      variables: variables.merging(["FERRY_SESSION": declared.identifier]) { $1 })
    return start
  }

  private func launch(
    _ start: inout Start, _ command: [String], in folder: String, variables: [String: String]
  ) {
    var variables = variables
    let now = clock.now
    if let windowEndsAt {
      variables["FERRY_TIME_REMAINING"] = "\(max(0, now.duration(to: windowEndsAt).components.seconds))"
    }
    do {
      start.process = try program.start(command, in: folder, variables: variables)
      start.record.startedAt = now.rfc3339
    } catch {
      start.record.problem = "\(error)"
    }
  }

  private func take(_ ending: ChildProgram.Ending, of index: Int) {
    starts[index].process = nil
    running.remove(index)
    switch ending {
    case .exited(let status): starts[index].record.exitStatus = status
    case .terminated(let signal): starts[index].record.signal = signal
    }
    if let failure = starts[index].record.failure { notice("warning: \(failure)") }
  }
}
