import FerryJournal
import FerryPlan

/// How the user decides whether a request whose response was lost was executed. Raw values are the words of the
/// command line.
package enum ResolveDecision: String, CaseIterable, Encodable, Sendable {
  /// The request was executed.
  case done
  /// The request was not executed: the next run sends it again.
  case retry
}

/// The command lines that resolve one item, request or fetch, or all items of one upload. They never apply to
/// anything else, even after these were resolved and others have become ambiguous.
struct ResolveCommand {
  /// Stands for the origin of an upload or a request whose server only a capture determines.
  static let noOrigin = "none"

  /// The session whose journal has the row.
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
    return row.kind == .upload ? "\(row.name)/" : row.name
  }
}
