import FerryJournal
import FerryPlan

/// The command lines that decide of one item, request or fetch, or of all items of one upload: of nothing else, also
/// once these are decided and others have come.
struct ResolveCommand {
  /// In whose journal it stands.
  let session: String
  let row: NodeRow
  /// Of one item; `nil` for a request, a fetch, or all items of an upload.
  let path: [UInt8]?

  /// They are good in any folder, and need nothing of the manifest.
  func line(_ decision: Resolution.Decision, in state: StateDirectory) -> String {
    state.command(
      ["resolve", item, decision.rawValue],
      options: [
        ("--session", session), ("--manifest-name", row.manifest),
        ("--origin", row.origin.isEmpty ? Resolution.noOrigin : row.origin),
      ])
  }

  private var item: String {
    if let path { return "\(row.name)/\(DisplayPath.shown(path))" }
    return row.kind == .upload ? "\(row.name)/" : row.name
  }
}
