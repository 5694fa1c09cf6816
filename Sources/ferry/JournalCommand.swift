import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry journal`: looks after what ferry remembers.
struct JournalCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal", abstract: "Verify, export and prune what ferry remembers.",
    subcommands: [
      JournalCheckCommand.self, JournalExportCommand.self, JournalPruneCommand.self,
      JournalAcceptLossCommand.self,
    ])
}

/// `ferry journal check`.
struct JournalCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what is wrong with journals; nothing is changed.",
    discussion: "Ends with 0 where all is sound, and with 1 where something is wrong.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The sessions' identifiers; by default all.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions

  @Option(help: "The form.")
  var format = Format.text

  func run() throws {
    let document = try JournalAudit(
      state: state.state, environment: ProcessInfo.processInfo.environment
    ).check(sessions: sessions)
    switch format {
    case .text: try Output.produce(AuditText.text(document))
    case .json: try Output.produce(try JSONText.pretty(document))
    }
    guard document.isSound else {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.itemsFailed.rawValue)
    }
  }
}

/// `ferry journal export`.
struct JournalExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write journals as JSON Lines, without what is secret.")

  @Argument(help: "The sessions' identifiers; by default all, with every round and run.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions

  func run() throws {
    // Many lines are one write.
    var buffer: [UInt8] = []
    let export = try JournalExport(state: state.state, environment: ProcessInfo.processInfo.environment) {
      line in
      buffer.append(contentsOf: line.utf8)
      guard buffer.count >= 1 << 16 else { return }
      try Output.export(buffer)
      buffer.removeAll(keepingCapacity: true)
    }
    // What was read before a fault is of use all the same.
    defer { try? Output.export(buffer) }
    let faults = try export.export(sessions: sessions)
    try Output.export(buffer)
    buffer.removeAll()
    for fault in faults { Output.complain("ferry: \(fault)") }
    guard faults.isEmpty else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
  }
}

/// `ferry journal prune`.
struct JournalPruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Forget old runs, or items that were delivered long ago.",
    discussion: """
      Runs are pruned at the end of each run too: \(Retention.variable) says after how long, by default 90d. What was \
      delivered is forgotten by this command alone, and a file that is there still is then sent again.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The sessions of which delivered items are forgotten; by default all.")
  var sessions: [String] = []

  @Option(
    help: ArgumentHelp(
      "Forget runs that ended longer ago, with their reports; not the last run of a manifest.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var runs: Duration?

  @Option(
    help: ArgumentHelp("Forget items that were delivered longer ago.", valueName: "duration"),
    transform: { try Duration(written: $0) })
  var delivered: Duration?

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "The form.")
  var format = Format.text

  func validate() throws {
    if runs == nil, delivered == nil {
      throw ValidationError("say what is to be forgotten: --runs or --delivered")
    }
    if delivered == nil, !sessions.isEmpty { throw ValidationError("sessions are for --delivered") }
  }

  func run() throws {
    let pruning = try JournalPruning(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try pruning.prune(runs: runs, delivered: delivered, sessions: sessions, patience: lock.patience())
    {
    case .inUse(let session):
      Output.complain(
        "ferry: \(LockOptions.text(session)); nothing was forgotten\n"
          + "help: wait for it with --wait-lock DURATION")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .pruned(let outcome):
      switch format {
      case .text: try Output.produce(text(outcome))
      case .json: try Output.produce(try JSONText.pretty(outcome))
      }
      guard outcome.isWhole else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
    }
  }

  private func text(_ outcome: JournalPruning.Outcome) -> String {
    var lines = outcome.sessions.map { session in
      let told =
        session.problem?.replacing("\n", with: "\n  ")
        ?? "\(Count.text(session.items, "delivered item")) forgotten"
      return "session \(session.session): \(told)\n"
    }
    if runs != nil { lines.append("\(Count.text(outcome.runs, "run")) forgotten\n") }
    return lines.joined()
  }
}
