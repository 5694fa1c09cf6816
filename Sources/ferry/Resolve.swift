import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry resolve`: a person decides what ferry cannot know.
struct Resolve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decide whether requests were carried out whose answers were lost.",
    usage:
      "ferry resolve [ITEM ...] done|retry (--manifest FILE | --session IDENT [--manifest-name NAME]) [--all]",
    discussion: """
      done: it was carried out, and nothing is sent again. retry: it was not, and the next run sends it again. An \
      item is named as for ferry explain; the name of an upload means all its items that are ambiguous.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(
    help: ArgumentHelp("Items that are ambiguous, and at last what is decided.", valueName: "item|decision"))
  var words: [String]

  @Option(help: "The manifest that they are of.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String?

  @Option(help: ArgumentHelp("The session that they are in.", valueName: "ident"))
  var session: String?

  @Option(
    help: ArgumentHelp(
      "Only what the manifest of this name has in the session; an item is then NODE/PATH, NODE, or NODE/ for a whole upload.",
      valueName: "name"))
  var manifestName: String?

  @Option(
    help: ArgumentHelp(
      "Only what was sent to this server: scheme, host and port; none, where it has no fixed one.",
      valueName: "origin"))
  var origin: String?

  @Flag(help: "Everything that is ambiguous there.")
  var all = false

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions

  @Option(help: "The form.")
  var format = Format.text

  func run() throws {
    guard let word = words.last, let decision = Resolution.Decision(rawValue: word) else {
      throw UsageError(
        "what is decided comes last: done or retry\nhelp: for example 'ferry resolve a.jpg done --manifest photos.yaml'"
      )
    }
    let items = Array(words.dropLast())
    guard items.isEmpty == all else {
      throw UsageError(all ? "--all leaves nothing to name" : "name what is meant, or give --all")
    }
    let resolution = try Resolution(
      state: state.state, environment: ProcessInfo.processInfo.environment, version: Ferry.version)
    switch try resolution.resolve(all ? nil : items, as: decision, in: try scope(), origin: origin) {
    case .inUse(let session, let pid):
      let holder = pid.map { "process \($0)" } ?? "another process"
      Output.complain(
        "ferry: the session \(session) is in use by \(holder); nothing was decided\nhelp: wait until it has ended"
      )
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.sessionInUse.rawValue)
    case .resolved(let resolved):
      switch format {
      case .text:
        if resolved.isEmpty { try Output.produce("nothing is ambiguous\n") }
        for one in resolved { try Output.produce(text(one) + "\n") }
      case .json: try Output.produce(try JSONText.pretty(ResolveRecord(resolved: resolved)))
      }
    }
  }

  private func scope() throws -> Resolution.Scope {
    switch (manifest, session) {
    case (.some, nil) where manifestName != nil:
      throw UsageError("--manifest-name goes with --session\nhelp: --manifest FILE names the manifest itself")
    case (let manifest?, nil):
      return .manifest(
        try ManifestSource(path: manifest, variables: variables.parsed(), variableFiles: variables.texts())
          .job())
    case (nil, let session?): return .session(session, manifest: manifestName)
    case (nil, nil), (.some, .some): throw UsageError("give either --manifest FILE or --session IDENT")
    }
  }

  private func text(_ resolved: Resolution.Resolved) -> String {
    let name =
      resolved.path.map { "\(resolved.node)/\(NameText.shown($0, base64: resolved.pathBase64))" }
      ?? resolved.node
    switch (resolved.decision, resolved.next) {
    case (.done, _): return "\(name): done"
    case (.retry, "commit"): return "\(name): the next run sends its commit again"
    case (.retry, _): return "\(name): the next run sends it again"
    }
  }
}

/// What `ferry resolve --format json` writes; its keys are an interface.
private struct ResolveRecord: Encodable {
  var version = 1
  var resolved: [Resolution.Resolved]
}
