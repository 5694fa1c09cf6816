import FerryPlan

/// Formats unused upload IDs as text.
package enum OrphansText {
  /// Formats the list of orphaned upload IDs as text.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ document: OrphansDocument, in zone: CalendarZone) -> String {
    var lines = (document.problems ?? []).map {
      "session \($0.session): \(DisplayPath.lines($0.problem, indent: "  "))"
    }
    if document.orphans.isEmpty { lines.append("there are no orphaned upload IDs") }
    var session: String?
    for orphan in document.orphans {
      if orphan.session != session { lines.append("session \(orphan.session)") }
      session = orphan.session
      lines += self.lines(orphan, zone).map { "  \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ orphan: OrphansDocument.Entry, _ zone: CalendarZone) -> [String] {
    let open = orphan.captures.sorted { $0.key < $1.key }.map { "\($0.key) \(DisplayPath.line($0.value))" }
    let secret = (orphan.secrets ?? []).map { "\($0) ***" }
    let origin = orphan.origin.isEmpty ? "" : " at \(DisplayPath.line(orphan.origin))"
    let name = DisplayPath.shown(orphan.path, base64: orphan.pathBase64)
    let since = ReasonText.moment(orphan.droppedAt, in: zone)
    var lines = [
      "\(orphan.id). \(orphan.upload)/\(name) of \(orphan.manifest): "
        + "\((open + secret).joined(separator: ", "))\(origin)",
      "   not used since \(since): \(words(orphan.reason))",
      "   "
        + (orphan.hindrance.map { "not released: \(DisplayPath.line($0))" } ?? "the next run will release it"),
    ]
    if let failure = orphan.failure, let tried = orphan.triedAt {
      lines.append(
        "   release failed at \(ReasonText.moment(tried, in: zone)): \(DisplayPath.line(failure.message))")
    }
    return lines
  }

  private static func words(_ reason: String) -> String {
    switch OrphanReason.allCases.first(where: { $0.word == reason }) {
    case .cancelled: "its item was canceled"
    case .failed: "its item failed"
    case .expired: "it expired before its transfer"
    case .startedOver: "its transfer was interrupted, and had to start over"
    case .requeued: "the file has changed, or was sent again"
    case .edited: "the manifest was edited"
    case .reset: "ferry reset dropped its item"
    case .retried: "ferry resolve restarted the upload of the file"
    case .otherServer: "the transfer of the file started over on a different server"
    case nil: DisplayPath.line(reason)
    }
  }
}
