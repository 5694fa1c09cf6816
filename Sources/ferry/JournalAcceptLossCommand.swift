import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry journal accept-loss`: allows a session whose journal has lost data to continue.
struct JournalAcceptLossCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-loss",
    abstract: "Accept that a session's journal is incomplete or missing.",
    discussion: """
      ferry does not run a session whose journal is missing or lacks recorded transactions until its files are \
      restored or this command accepts the loss. Files whose delivery was recorded only in the lost part are then \
      sent again, so check the server first.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers.")
  var sessions: [String]

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let acceptance = try LossAcceptance(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try acceptance.accept(sessions: sessions, patience: lock.patience()) {
    case .inUse(let session):
      Output.complain(
        "ferry: \(LockOptions.text(session)); nothing was accepted\n"
          + "help: wait for the session with --wait-lock DURATION")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .accepted(let outcome):
      switch format {
      case .text: for session in outcome.sessions { try Output.produce(text(session) + "\n") }
      case .json: try Output.produce(try JSONText.pretty(outcome))
      }
    }
  }

  private func text(_ session: LossAcceptance.Outcome.Session) -> String {
    let name = "session \(session.session)"
    if session.journalLost {
      return "\(name): the next run creates a new journal and sends all files again"
    }
    let lost = session.transactionsLost ?? 0
    guard lost > 0 else { return "\(name): its journal is complete; nothing was changed" }
    return "\(name): the loss of \(Count.text(Int(clamping: lost), "transaction")) was accepted; "
      + "the next run resends all files whose delivery those transactions had recorded"
  }
}
