import FerryPlan

/// Formats the state of an item or node as text.
package enum ItemText {
  /// Formats the explanation of items as text.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ document: ItemDocument, in zone: CalendarZone) -> String {
    document.matches.flatMap { lines($0, round: document.round, zone) }.joined(separator: "\n") + "\n"
  }

  private static func lines(_ match: ItemDocument.Match, round: Int64, _ zone: CalendarZone) -> [String] {
    let path = match.path.map { DisplayPath.shown($0, base64: match.pathBase64) }
    let name = path.map { "\(match.node)/\($0)" } ?? match.node
    // In the list of a download batch, 0 stands for an unknown size.
    let known = match.kind == .download && match.size == 0 ? nil : match.size
    let size = known.map { ", \(ByteText.text($0))" } ?? ""
    var lines = ["\(match.kind.rawValue) \(name)\(size): \(sentence(match, zone))"]
    lines.append("  \(recorded(match, round: round)), session \(match.session)")
    if let run = match.interruptedRun {
      lines.append(
        "  interrupted: \(run.words(in: zone))\(isOpen(match) ? "; it may have been sending this item" : "")")
      lines.append("  to resume it, run: \(DisplayPath.line(run.resume))")
    }
    if let handedOver = match.handedOverAt {
      lines.append("  queued \(ReasonText.moment(handedOver, in: zone))")
    }
    if let uploadID = match.uploadId {
      let until = uploadID.expiresAt.map { " until \(ReasonText.moment($0, in: zone))" } ?? ""
      lines.append("  holds an upload ID\(until)")
    }
    if let transfer = match.transfer {
      let sent = transfer.requests - transfer.remainingRequests
      let requests = transfer.requests > 1 ? ", \(sent) of \(transfer.requests) parts" : ""
      lines.append(
        "  the server has confirmed \(ByteText.text(transfer.confirmedBytes))"
          + "\(match.size.map { " of \(ByteText.text($0))" } ?? "")\(requests) (\(transfer.protocol.rawValue))"
      )
    }
    if let delivered = match.deliveredAt {
      lines.append("  delivered \(ReasonText.moment(delivered, in: zone))")
    }
    if let after = match.after { lines.append("  \(line(after))") }
    if let ambiguity = match.ambiguity {
      lines += AmbiguityText.lines(ambiguity, of: path ?? match.node, in: zone).map { "  \($0)" }
    }
    for attempt in match.attempts {
      lines.append(
        "  \(attempt.step.rawValue) in run \(match.lastRun ?? ""), "
          + "\(ReasonText.moment(attempt.endedAt, in: zone)): \(ReasonText.text(attempt.message, attempt.detail))"
      )
    }
    return lines
  }

  /// The state recorded in the journal, which does not contain requests in progress.
  private static func recorded(_ match: ItemDocument.Match, round: Int64) -> String {
    if let items = match.items {
      var ofRound = items
      ofRound.doneBefore = 0
      let now = ofRound.words.isEmpty ? "no items" : ofRound.words.joined(separator: ", ")
      let before = items.doneBefore > 0 ? ", \(items.doneBefore) done in earlier rounds" : ""
      return "\(now) in round \(round)\(before)"
    }
    guard let round = match.round else { return "not started" }
    guard isOpen(match), match.next == .running || match.interruptedRun != nil else {
      // If the next run does not send the item, the sentence already contains the reason.
      let reason =
        match.next == .nothing ? "" : match.cancellation.map { " (\(DisplayPath.line($0.message)))" } ?? ""
      return "state \(match.state) in round \(round)\(reason)"
    }
    let now = match.next == .running ? "; the process may be sending it" : ""
    return "last recorded state \(match.state) in round \(round)\(now)"
  }

  /// Whether the item has not ended in its round.
  private static func isOpen(_ match: ItemDocument.Match) -> Bool {
    match.path != nil && [.queued, .allocated, .transferred].contains(match.state)
  }

  private static func line(_ after: ItemDocument.After) -> String {
    guard let owed = after.owed else { return "after: \(after.state)" }
    let why =
      after.reason.map { DisplayPath.line($0.message) } ?? "no run has attempted it since the delivery"
    return "after: \(owed) is pending: \(why)"
  }

  private static func sentence(_ match: ItemDocument.Match, _ zone: CalendarZone) -> String {
    let reason = match.reason.map { ReasonText.text($0, in: zone) }
    switch match.next {
    case .begins: return "the next run will start it immediately"
    case .waits: return reason ?? "waiting"
    case .running:
      return "\(match.pid.map { "process \($0)" } ?? "another process") is running its session"
    case .ends:
      return "the next run will close the item without sending it: \(reason ?? match.state.description)"
    case .nothing: break
    }
    if let notBefore = match.notBefore {
      return "not due before \(ReasonText.moment(notBefore, in: zone))\(reason.map { "; \($0)" } ?? "")"
    }
    if match.kind.hasItems, match.path == nil { return "it has nothing to send" }
    switch match.state {
    case .done where match.after?.owed == "keep":
      return "it is delivered and stays in place, because the manifest now specifies 'keep'"
    case .done where match.after?.owed != nil:
      return "it is delivered, and the next run will move or delete it"
    case .done, .succeeded: return "it is delivered, and no action is pending"
    case .ambiguous where match.ambiguity?.failed == true:
      return "its transfer must not be repeated, and its commit failed: \(reason ?? "unknown")"
    case .ambiguous: return "it is unknown whether it was delivered: \(reason ?? "its response was lost")"
    case .failed, .skipped, .waiting, .notSelected, .notNeeded, .cancelled, .queued, .allocated, .transferred,
      .new,
      .run, .ask, .notDue, .never, .stored:
      return "it has ended in this round: \(reason ?? match.state.description)"
    }
  }
}
