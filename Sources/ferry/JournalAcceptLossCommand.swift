import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry journal accept-loss`.
struct JournalAcceptLossCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-loss",
    abstract: "Use a journal that has lost what was written to it, or start without one that is gone.",
    discussion: """
      A session whose journal is missing, or lacks transactions that were recorded, is refused until its files are put \
      back or this command is given. What the lost part had recorded as delivered is then sent again: look at the \
      server first.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The sessions' identifiers.")
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
          + "help: wait for it with --wait-lock DURATION")
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
      return "\(name): the next run starts without a journal, and sends everything again"
    }
    let lost = session.transactionsLost ?? 0
    guard lost > 0 else { return "\(name): its journal has lost nothing; nothing was changed" }
    return "\(name): the loss of \(Count.text(Int(clamping: lost), "transaction")) is accepted; "
      + "the next run sends again what they had recorded as delivered"
  }
}
