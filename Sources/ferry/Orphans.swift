import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry orphans`: lists unused upload IDs, or removes some from the list.
struct Orphans: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "orphans",
    abstract: "List unused upload IDs that servers have issued.",
    discussion: """
      If an upload has an 'abandon:' request, a run releases its unused IDs. Other IDs, and IDs whose \
      commit the server may have executed, stay in the list: check the server, then use --forget.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers. Default: all sessions.")
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
        "--forget requires exactly one session\n"
          + "help: for example 'ferry orphans SESSION --forget 1'; list orphans and their sessions with: "
          + "\(try state.command("orphans"))")
    }
    switch try orphans.forget(try forgotten(), in: session, patience: lock.patience()) {
    case .inUse(let holder):
      Output.complain(
        "ferry: \(LockOptions.text(holder)); nothing was removed\n"
          + "help: wait for the session with --wait-lock DURATION")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .forgotten(let count):
      switch format {
      case .text:
        try Output.produce("session \(session): \(Count.text(count, "orphan")) removed from the list\n")
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
            + "help: specify 'all', or a number listed by: \(try state.command("orphans"))")
      }
      ids.append(id)
    }
    return .some(ids)
  }
}

/// The output of `ferry orphans --forget … --format json`. The JSON keys are a stable public interface.
private struct ForgetRecord: Encodable {
  var version = 1
  var session: String
  var forgotten: Int
}
