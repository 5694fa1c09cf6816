import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry cancel`: ends what is open in sessions.
struct Cancel: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "End what is open in sessions, as cancelled.",
    discussion: """
      Where a process carries a session out, it is told to, and ferry cancel does not wait for it, but with \
      --wait-lock. A manifest means what it has in its sessions.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Sessions' identifiers, or paths of manifests.")
  var targets: [String]

  @Flag(help: "Let what runs come to its end, and take nothing new.")
  var finish = false

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var lock: LockOptions

  @Option(help: "The form.")
  var format = Format.text

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
    let (outcomes, inUse) = try cancellation.cancel(wanted, finishing: finish, patience: lock.patience())
    switch format {
    case .text:
      for outcome in outcomes {
        try Output.produce(text(outcome) + "\n")
        // A session that is removed has nothing any more.
        guard outcome.ambiguous > 0, outcome.result != .removed else { continue }
        try Output.produce(
          "  which, and how to decide, is said by: \(state.command("status", outcome.session))\n")
      }
    case .json: try Output.produce(try JSONText.pretty(CancelRecord(sessions: outcomes)))
    }
    guard !inUse.isEmpty else { return }
    for session in inUse {
      Output.complain("ferry: \(LockOptions.text(session)) still; it was told\nhelp: wait for it longer")
    }
    throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
  }

  /// An identifier has no slash, and a manifest's name ends as YAML's do.
  static func isPath(_ target: String) -> Bool {
    target.utf8.contains(UInt8(ascii: "/")) || target.hasSuffix(".yaml") || target.hasSuffix(".yml")
  }

  private func text(_ outcome: Cancellation.Outcome) -> String {
    let holder = outcome.pid.map { "process \($0)" } ?? "another process"
    let name = "session \(outcome.session)"
    switch outcome.result {
    case .nothing: return "\(name): it has nothing"
    case .told:
      let wish = finish ? "finish and take nothing new" : "cancel"
      return "\(name): held by \(holder), which was told to \(wish)"
        + (outcome.released == true ? ", and has let it go" : "")
    case .cancelled, .removed:
      var parts = ["\(Count.text(outcome.items, "item")) cancelled"]
      if outcome.ambiguous > 0 { parts.append("\(outcome.ambiguous) ambiguous") }
      if outcome.submitted > 0 { parts.append("\(Count.text(outcome.submitted, "submitted file")) dropped") }
      if outcome.result == .removed { parts.append("the session is removed") }
      parts += outcome.closedRounds.map { "round \($0.round) of \($0.manifest) closed" }
      return "\(name): \(parts.joined(separator: ", "))"
    }
  }
}

/// What `ferry cancel --format json` writes; its keys are an interface.
private struct CancelRecord: Encodable {
  var version = 1
  var sessions: [Cancellation.Outcome]
}
