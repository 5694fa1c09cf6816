import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry resolve`: records the user's decision about requests whose outcome is unknown.
struct Resolve: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Decide whether the server executed requests whose responses were lost.",
    usage:
      "ferry resolve [ITEM ...] done|retry|delivered (--manifest FILE | --session IDENT [--manifest-name NAME]) [--all]",
    discussion: """
      done: the request was executed, and is not sent again. If it was a transfer, the next run sends its commit. \
      retry: it was not executed, and the next run sends it again. delivered: it was executed, and so was its commit. \
      Specify items as for ferry explain. The name of an upload refers to all its ambiguous items.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(
    help: ArgumentHelp(
      "Ambiguous items, followed by the decision: done, retry or delivered.", valueName: "item|decision"))
  var words: [String]

  @Option(help: "The manifest that contains the items.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String?

  @Option(help: ArgumentHelp("The session that contains the items.", valueName: "ident"))
  var session: String?

  @Option(
    help: ArgumentHelp(
      "Resolve only items of the manifest with this name. Items are then NODE/PATH, NODE, or NODE/ "
        + "for a whole upload.",
      valueName: "name"))
  var manifestName: String?

  @Option(
    help: ArgumentHelp(
      "Resolve only items sent to this server: scheme, host and port, or 'none' if the manifest does not determine the server.",
      valueName: "origin"))
  var origin: String?

  @Flag(help: "Resolve all ambiguous items in the manifest or session.")
  var all = false

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    guard let word = words.last, let decision = ResolveDecision(rawValue: word) else {
      throw UsageError(
        "the last argument must be the decision: done, retry or delivered\n"
          + "help: for example 'ferry resolve a.jpg done --manifest photos.yaml'")
    }
    let items = Array(words.dropLast())
    guard items.isEmpty == all else {
      throw UsageError(all ? "specify items or --all, but not both" : "specify at least one item, or --all")
    }
    let resolution = try Resolution(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try resolution.resolve(all ? nil : items, as: decision, in: try scope(), origin: origin) {
    case .inUse(let session, let pid):
      let holder = pid.map { "process \($0)" } ?? "another process"
      Output.complain(
        "ferry: session '\(session)' is in use by \(holder); nothing was decided\n"
          + "help: wait until that process has exited")
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .resolved(let resolved):
      switch format {
      case .text:
        if resolved.isEmpty { try Output.produce("there are no ambiguous items\n") }
        for one in resolved { try Output.produce(text(one) + "\n") }
      case .json: try Output.produce(try JSONText.pretty(ResolveRecord(resolved: resolved)))
      }
    }
  }

  private func scope() throws -> Resolution.Scope {
    switch (manifest, session) {
    case (.some, nil) where manifestName != nil:
      throw UsageError(
        "--manifest-name requires --session\nhelp: --manifest FILE already specifies the manifest")
    case (let manifest?, nil):
      return .manifest(
        try ManifestSource(path: manifest, variables: variables.parsed(), variableFiles: variables.texts())
          .job())
    case (nil, let session?): return .session(session, manifest: manifestName)
    case (nil, nil), (.some, .some): throw UsageError("specify either --manifest FILE or --session IDENT")
    }
  }

  private func text(_ resolved: Resolution.Resolved) -> String {
    let name =
      resolved.path.map { "\(resolved.node)/\(DisplayPath.shown($0, base64: resolved.pathBase64))" }
      ?? resolved.node
    switch (resolved.decision, resolved.next) {
    case (.done, .some): return "\(name): transferred; the next run will send its commit"
    case (.done, nil), (.delivered, _): return "\(name): done"
    case (.retry, .commit): return "\(name): the next run will send its commit again"
    case (.retry, _): return "\(name): the next run will send it again"
    }
  }
}

/// The output of `ferry resolve --format json`. The JSON keys are a stable public interface.
private struct ResolveRecord: Encodable {
  var version = 1
  var resolved: [Resolution.Resolved]
}
