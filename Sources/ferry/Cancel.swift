import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry cancel`: cancels the unfinished work of sessions.
struct Cancel: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel the unfinished work of sessions.",
    discussion: """
      If a process is running a session, ferry cancel asks that process to cancel the work, and does not \
      wait for it unless --wait-lock is given. For a manifest, only the work of that manifest is canceled.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(
    help:
      "Session identifiers, or paths of manifests. An argument is a path if it contains a slash or ends in .yaml or .yml."
  )
  var targets: [String]

  @Flag(help: "Ask the running process to finish the items that it has started, without starting others.")
  var finish = false

  @Flag(
    help: "Ask the running process to complete everything that it has queued, without accepting new work.")
  var drain = false

  @Option(
    help: "The reason, which is recorded with the canceled work: one line of at most 200 characters.",
    transform: Cancel.reason)
  var reason: CancelReason?

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "Output format.")
  var format = Format.text

  func validate() throws {
    if finish, drain { throw ValidationError("specify --finish or --drain, but not both") }
  }

  private static func reason(_ text: String) throws -> CancelReason {
    do {
      return try CancelReason(text)
    } catch {
      throw ValidationError("--reason \(DisplayPath.shown(Array(text.utf8))) is not accepted: \(error)")
    }
  }

  func run() throws {
    let given = try variables.parsed()
    let files = try variables.texts()
    let cancellation = try Cancellation(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    let wanted = try targets.map { target -> Cancellation.Target in
      guard Self.isPath(target) else { return .session(target) }
      return .manifest(
        try ManifestSource(path: target, variables: given, variableFiles: files).job())
    }
    let (outcomes, inUse) = try cancellation.cancel(
      wanted, drain ? .draining : finish ? .finishing : .atOnce, reason: reason,
      patience: lock.patience())
    switch format {
    case .text:
      for outcome in outcomes {
        try Output.produce(text(outcome) + "\n")
        guard outcome.ambiguous > 0 || outcome.undecided != nil else { continue }
        try Output.produce(
          "  to list them with the commands that resolve them, run: \(state.command("status", outcome.session))\n"
        )
      }
    case .json: try Output.produce(try JSONText.pretty(CancelRecord(sessions: outcomes)))
    }
    guard !inUse.isEmpty else { return }
    for session in inUse {
      Output.complain(
        "ferry: \(LockOptions.text(session)); that process was asked to stop, but has not released the session\n"
          + "help: use a longer --wait-lock")
    }
    throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
  }

  /// Session identifiers do not contain slashes, and the paths of manifests end in a YAML file extension.
  static func isPath(_ target: String) -> Bool {
    target.utf8.contains(UInt8(ascii: "/")) || target.hasSuffix(".yaml") || target.hasSuffix(".yml")
  }

  private func text(_ outcome: Cancellation.Outcome) -> String {
    let holder = outcome.pid.map { "process \($0)" } ?? "another process"
    let name = "session \(outcome.session)"
    switch outcome.result {
    case .nothing:
      return drain
        ? "\(name): no process uses the session; queued work remains for the next run"
        : "\(name): nothing to cancel"
    case .told:
      let wish =
        drain
        ? "complete the work that it has queued" : finish ? "finish the work that it has started" : "cancel"
      return "\(name): in use by \(holder), which was asked to \(wish)"
        + (outcome.released == true ? ", and has released the session" : "")
    case .cancelled, .removed:
      var parts = ["\(Count.text(outcome.items, "item")) canceled"]
      if outcome.ambiguous > 0 { parts.append("\(outcome.ambiguous) ambiguous") }
      if outcome.submitted > 0 { parts.append("\(Count.text(outcome.submitted, "submitted file")) dropped") }
      if outcome.result == .removed { parts.append("the session was removed") }
      if let undecided = outcome.undecided {
        parts.append("the session was kept \(SessionRemoval.reason(keeping: undecided))")
      }
      parts += outcome.closedRounds.map { "round \($0.round) of \($0.manifest) closed" }
      return "\(name): \(parts.joined(separator: ", "))"
    }
  }
}

/// The output of `ferry cancel --format json`. The JSON keys are a stable public interface.
private struct CancelRecord: Encodable {
  var version = 1
  var sessions: [Cancellation.Outcome]
}
