import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry orphans`: lists upload IDs that will not be used.
struct Orphans: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List upload IDs that servers issued and that will not be used.",
    discussion: """
      If an upload has an 'abandon:' request, a run releases its unused IDs. Other IDs, and those whose \
      commit the server may have executed, stay listed: check the server, then use --forget.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers. By default all sessions.")
  var sessions: [String] = []

  @Option(
    help: ArgumentHelp(
      "Remove the upload ID with this number, or 'all', from the session's list. May be repeated.",
      valueName: "number|all"))
  var forget: [String] = []

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let orphans = try SessionOrphans(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    guard forget.isEmpty else { return try forget(from: orphans) }
    let document = try orphans.look(sessions: sessions)
    switch format {
    case .text:
      try Output.produce(OrphansText.text(document, in: CalendarZone.current(around: LaunchClock.wallTime)))
    case .json: try Output.produce(JSONText.pretty(document))
    }
    guard document.problems == nil else {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue)
    }
  }

  private func forget(from orphans: SessionOrphans) throws {
    guard let session = sessions.first, sessions.count == 1 else {
      throw UsageError(
        "--forget requires one session, and only one\n"
          + "help: for example 'ferry orphans SESSION --forget 1'; orphans and their sessions are listed by: "
          + "\(try state.command("orphans"))")
    }
    switch try orphans.forget(try forgotten(), in: session, patience: lock.patience()) {
    case .inUse(let holder):
      Output.complain(
        "ferry: \(LockOptions.text(holder)); nothing was forgotten\n"
          + "help: wait for it with --wait-lock DURATION")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .forgotten(let count):
      switch format {
      case .text: try Output.produce("session \(session): \(Count.text(count, "orphan")) forgotten\n")
      case .json: try Output.produce(JSONText.pretty(ForgetRecord(session: session, forgotten: count)))
      }
    }
  }

  private func forgotten() throws -> SessionOrphans.Forgotten {
    if forget == ["all"] { return .all }
    var ids: [Int64] = []
    for text in forget {
      guard let id = Int64(text) else {
        throw UsageError(
          "'\(DisplayPath.shown(text))' is not the number of an orphan\n"
            + "help: give 'all', or a number that is listed by: \(try state.command("orphans"))")
      }
      ids.append(id)
    }
    return .some(ids)
  }
}

/// The output of `ferry orphans --forget … --format json`. Its keys are a public interface.
private struct ForgetRecord: Encodable {
  var version = 1
  var session: String
  var forgotten: Int
}
