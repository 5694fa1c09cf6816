import FerryJournal
import FerryPlan

/// The user's decision about a request whose response was lost. Raw values are command-line arguments.
package enum ResolveDecision: String, CaseIterable, Encodable, Sendable {
  /// The request was executed. After a transfer, the commit follows.
  case done
  /// The request was not executed; the next run sends it again.
  case retry
  /// The request was executed, and so was the commit that follows it. Nothing remains to be sent.
  case delivered
}

/// The command lines that resolve one item, request or fetch, or all items of one upload. The name in each command has
/// exactly one meaning, so the command never applies to another node or file, even if such a node or file becomes
/// ambiguous later.
struct ResolveCommand {
  /// Stands for the origin of an upload or request whose server only a capture determines.
  static let noOrigin = "none"

  /// The session whose journal contains the row.
  let session: String
  let row: NodeRow
  /// The path of one item; `nil` for a request, a fetch, or all items of an upload.
  let path: [UInt8]?

  /// The command line of a decision. It works in any folder and does not read the manifest.
  func line(_ decision: ResolveDecision, in state: StateDirectory) -> String {
    state.command(
      ["resolve", item, decision.rawValue],
      options: [
        ("--session", session), ("--manifest-name", row.manifest),
        ("--origin", row.origin.isEmpty ? Self.noOrigin : row.origin),
      ])
  }

  private var item: String {
    if let path { return "\(row.name)/\(DisplayPath.shown(path))" }
    return row.kind.hasItems ? "\(row.name)/" : row.name
  }
}
