import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry orphans`: lists upload IDs that will not be used.
struct Orphans: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List upload IDs that servers gave out and that will not be used.",
    discussion: """
      A run releases those of an upload whose manifest has an 'abandon:' request. Others, and those whose commit may \
      have been carried out, stay here until a person has looked at the server and says --forget.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The sessions' identifiers; by default all.")
  var sessions: [String] = []

  @Option(
    help: ArgumentHelp(
      "Take the orphan of this number from the list of the only session, or 'all'; may be repeated.",
      valueName: "number|all"))
  var forget: [String] = []

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "The form.")
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
        "--forget needs the session whose orphans it is about, and only one\n"
          + "help: for example 'ferry orphans SESSION --forget 1'; this lists them by their sessions: "
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
          "'\(NameText.shown(text))' is no number of an orphan\n"
            + "help: give 'all', or one that is listed by: \(try state.command("orphans"))")
      }
      ids.append(id)
    }
    return .some(ids)
  }
}

/// What `ferry orphans --forget … --format json` writes; its keys are an interface.
private struct ForgetRecord: Encodable {
  var version = 1
  var session: String
  var forgotten: Int
}
