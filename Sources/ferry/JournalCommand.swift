import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry journal`: verifies, exports and prunes journals, and accepts the loss of their data.
struct JournalCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal", abstract: "Verify, export and prune journals.",
    subcommands: [
      JournalCheckCommand.self, JournalExportCommand.self, JournalPruneCommand.self,
      JournalAcceptLossCommand.self,
    ])
}

/// `ferry journal check`: checks journals for damage without changing them.
struct JournalCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Verify journals without changing them.",
    discussion: "Exits with 0 if all journals are sound, and with 1 if it finds a problem.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers. Default: all sessions.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
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

/// `ferry journal export`: writes journals as JSON Lines.
struct JournalExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Export journals as JSON Lines, without secrets.")

  @Argument(help: "Session identifiers. Default: all sessions, rounds and runs.")
  var sessions: [String] = []

  @OptionGroup var state: StateOptions

  func run() throws {
    // Lines are collected, so that a single write contains many of them.
    var buffer: [UInt8] = []
    let export = try JournalExport(state: state.state, environment: ProcessInfo.processInfo.environment) {
      line in
      buffer.append(contentsOf: line.utf8)
      guard buffer.count >= 1 << 16 else { return }
      try Output.export(buffer)
      buffer.removeAll(keepingCapacity: true)
    }
    // Lines read before a fault are also written.
    defer { try? Output.export(buffer) }
    let faults = try export.export(sessions: sessions)
    try Output.export(buffer)
    buffer.removeAll()
    for fault in faults { Output.complain("ferry: \(fault)") }
    guard faults.isEmpty else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
  }
}

/// `ferry journal prune`: removes old records.
struct JournalPruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Delete the records of old runs and items.",
    discussion: """
      At its end, each run also deletes runs that are older than \(Retention.variable), by default 90d. \
      Items are deleted only by this command. If their files still exist, they are sent again.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Sessions whose records of items are deleted. Default: all sessions.")
  var sessions: [String] = []

  @Option(
    help: ArgumentHelp(
      "Delete runs older than this, together with their reports. The last run of each manifest is kept.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var runs: Duration?

  @Option(
    help: ArgumentHelp(
      "Delete the records of items that were delivered longer ago than this.", valueName: "duration"),
    transform: { try Duration(written: $0) })
  var delivered: Duration?

  @Option(
    help: ArgumentHelp(
      "Delete the records of items that failed or were canceled longer ago than this.", valueName: "duration"
    ),
    transform: { try Duration(written: $0) })
  var failed: Duration?

  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "Output format.")
  var format = Format.text

  func validate() throws {
    if runs == nil, delivered == nil, failed == nil {
      throw ValidationError("specify what to delete: --runs, --delivered or --failed")
    }
    if delivered == nil, failed == nil, !sessions.isEmpty {
      throw ValidationError("session identifiers require --delivered or --failed")
    }
  }

  func run() throws {
    let pruning = try JournalPruning(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try pruning.prune(
      runs: runs, delivered: delivered, failed: failed, sessions: sessions, patience: lock.patience())
    {
    case .inUse(let session):
      Output.complain(
        "ferry: \(LockOptions.text(session)); nothing was deleted\n"
          + "help: wait for the session with --wait-lock DURATION")
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
      var counts: [String] = []
      if delivered != nil { counts.append(Count.text(session.items, "delivered item")) }
      if failed != nil { counts.append(Count.text(session.failedItems, "failed or canceled item")) }
      let result =
        session.problem?.replacing("\n", with: "\n  ")
        ?? "\(counts.joined(separator: " and ")) deleted"
      return "session \(session.session): \(result)\n"
    }
    if runs != nil { lines.append("\(Count.text(outcome.runs, "run")) deleted\n") }
    return lines.joined()
  }
}
