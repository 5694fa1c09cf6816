import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry reset`: drops the unfinished work of sessions.
struct Reset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Drop the unfinished work of sessions, but keep the records of delivered files.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers.")
  var sessions: [String]

  @Flag(help: ArgumentHelp(DropUnanswered.help))
  var dropUnanswered = false

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let reset = try SessionReset(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try reset.reset(
      sessions: sessions, dropsUnanswered: dropUnanswered, patience: lock.patience())
    {
    case .inUse(let session):
      let cancel = try state.command("cancel", session.session)
      Output.complain(
        "ferry: \(LockOptions.text(session)); nothing was dropped\n"
          + "help: wait for the session with --wait-lock DURATION, or cancel its work with: \(cancel)")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .unanswered(let steps):
      let status = try state.command("status")
      throw UsageError(
        UnansweredText.text(
          steps,
          instead:
            "the next ferry run resumes them if the manifest still has them in this session, and \(status) shows "
            + "the requests whose outcome remains unknown"
        ))
    case .reset(let dropped):
      switch format {
      case .text: for session in dropped { try Output.produce(text(session) + "\n") }
      case .json: try Output.produce(try JSONText.pretty(ResetRecord(sessions: dropped)))
      }
    }
  }

  private func text(_ dropped: SessionReset.Dropped) -> String {
    var parts = [
      "\(Count.text(dropped.items, "item")) dropped", Count.text(dropped.uploadIds, "upload ID"),
      Count.text(dropped.unanswered, "unanswered step"),
    ]
    if dropped.notes > 0 { parts.append(Count.text(dropped.notes, "note")) }
    if dropped.parts > 0 { parts.append("\(Count.text(dropped.parts, "partial download")) removed") }
    parts += dropped.closedRounds.map { "round \($0.round) of \($0.manifest) closed" }
    return "session \(dropped.session): \(parts.joined(separator: ", "))"
  }
}

/// The option that `ferry reset` and `ferry run --fresh` share.
enum DropUnanswered {
  static let help =
    "Also drop requests that may have reached the server but have no recorded response. They are then sent again."
}

/// The output of `ferry reset --format json`. The JSON keys are a stable public interface.
private struct ResetRecord: Encodable {
  var version = 1
  var sessions: [SessionReset.Dropped]
}
