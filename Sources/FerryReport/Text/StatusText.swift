import FerryPlan

/// Formats the state of sessions as text.
package enum StatusText {
  /// Formats a status document as text.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ status: StatusDocument, in zone: CalendarZone) -> String {
    guard !status.sessions.isEmpty else {
      return "there are no sessions in \(DisplayPath.shown(status.state))\n"
    }
    var lines: [String] = []
    for session in status.sessions { lines += self.lines(session, zone) }
    for run in status.runs ?? [] { lines += self.lines(run) }
    for manifest in status.manifests {
      lines.append(self.line(manifest, zone))
      if let problem = manifest.problem { lines.append("  \(DisplayPath.lines(problem, indent: "  "))") }
      lines += ReasonText.lines(manifest.budgets ?? [], in: zone).map { "  budget \($0)" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The progress of a run, and its requests in progress.
  private static func lines(_ run: RunProgress) -> [String] {
    let seconds = Instant(rfc3339: run.at).flatMap { at in
      Instant(rfc3339: run.startedAt).map { max(0, $0.duration(to: at).seconds) }
    }
    let figures = ProgressText.Figures(
      done: run.itemsDone, open: run.itemsOpen, isListing: run.listing == true, failed: run.failed,
      bytes: run.bytes, seconds: seconds ?? 0, pause: run.waitsFor)
    let hidden = max(0, run.inFlight -| run.requests.count)
    return ["run \(DisplayPath.line(run.run)): \(ProgressText.line(figures))"]
      + run.requests.prefix(RunProgress.mostRequests).map { ProgressText.line($0) }
      + (hidden > 0 ? ["  … and \(Count.text(hidden, "more request", "more requests"))"] : [])
  }

  private static func lines(_ session: StatusDocument.SessionEntry, _ zone: CalendarZone) -> [String] {
    if let problem = session.problem {
      return ["session \(session.identifier): \(problem.replacing("\n", with: "\n  "))"]
    }
    var lines = ["session \(session.identifier): \(holder(session, zone))"]
    if let removed = session.removed {
      lines.append(
        "  removed \(ReasonText.moment(removed.removedAt, in: zone)): \(Count.text(removed.items, "item")) "
          + DisplayPath.line(removed.message))
    }
    if let run = session.interruptedRun {
      lines.append("  to resume it, run: \(DisplayPath.line(run.resume))")
    }
    if let window = session.window {
      let moment = ReasonText.moment(window.endsAt, in: zone)
      lines.append(
        window.remainingSeconds > 0
          ? "  execution window: about \(Int64(window.remainingSeconds)) s remaining, until \(moment)"
          : "  execution window: ended \(moment)")
    }
    for node in session.nodes {
      lines.append("  \(line(node, zone))")
      for cancellation in node.cancellations ?? []
      where cancellation.message != RecordedFailure.cancelled.message {
        lines.append("    \(cancellation.items) \(DisplayPath.line(cancellation.message))")
      }
      for entry in node.ambiguous ?? [] {
        let name = entry.path.map { DisplayPath.shown($0, base64: entry.pathBase64) } ?? node.name
        lines += AmbiguityText.lines(entry.ambiguity, of: name, in: zone).map { "    \($0)" }
      }
      if let listed = node.ambiguous?.count, let all = node.items?.ambiguous, all > listed {
        lines.append("    and \(all - listed) more")
      }
    }
    if let delay = session.delay {
      lines.append(
        "  resume delay of \(Self.seconds(delay.periodSeconds)), until "
          + ReasonText.moment(delay.endsAt, in: zone))
    }
    if session.eventsPending { lines.append("  on_events has not been started yet") }
    for note in session.notes {
      let manifest = note.manifest.map { " of \($0)" } ?? ""
      let files = note.files > 0 ? ": \(note.files) \(note.files == 1 ? "file" : "files")" : ""
      let reason = note.reason.map { ": \(DisplayPath.line($0))" } ?? ""
      lines.append(
        "  note \(note.id): \(note.kind)\(note.node.map { " \($0)" } ?? "")\(manifest)\(files), added "
          + ReasonText.moment(note.createdAt, in: zone) + reason)
    }
    return lines
  }

  private static func holder(_ session: StatusDocument.SessionEntry, _ zone: CalendarZone) -> String {
    if let run = session.interruptedRun { return "interrupted: \(run.words(in: zone))" }
    guard let holder = session.holder else { return "free" }
    let since = holder.since.map { ", since \(ReasonText.moment($0, in: zone))" } ?? ""
    return "held by \(holder.pid.map { "process \($0)" } ?? "a process")\(since)"
  }

  private static func line(_ node: StatusDocument.NodeEntry, _ zone: CalendarZone) -> String {
    var parts: [String] = []
    if let items = node.items {
      parts = items.words
      if let toSend = items.toSend, toSend > 0 { parts.append("\(toSend) to send") }
      if let unlisted = items.unlisted { parts.append("\(unlisted) not listed") }
      if let toCompare = items.toCompare { parts.append("\(toCompare) to compare by content") }
      if let owed = items.owedAfter { parts.append("\(owed) delivered, to be moved or deleted") }
      if let orphans = node.orphans { parts.append(Count.text(orphans, "orphaned upload ID")) }
      if parts.isEmpty { parts = ["no items"] }
    } else {
      parts.append(node.state?.description ?? "open")
    }
    if let notBefore = node.notBefore {
      parts.append("not due before \(ReasonText.moment(notBefore, in: zone))")
    }
    let reason = node.reason.map { " (\(ReasonText.text($0, in: zone)))" } ?? ""
    let round = node.round > 0 ? ", round \(node.round)" : ""
    return
      "\(node.kind.rawValue) \(node.name) of \(node.manifest)\(round): \(parts.joined(separator: ", "))\(reason)"
  }

  private static func line(_ manifest: StatusDocument.ManifestEntry, _ zone: CalendarZone) -> String {
    var text = "manifest \(manifest.name)"
    if let path = manifest.path { text += " (\(DisplayPath.shown(path)))" }
    guard let round = manifest.round, let opened = manifest.roundOpenedAt else {
      return text + ": no round yet"
    }
    text += ": round \(round), "
    return text
      + (manifest.roundClosedAt.map { "closed \(ReasonText.moment($0, in: zone))" }
        ?? "open since \(ReasonText.moment(opened, in: zone))")
  }

  static func seconds(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int64(clamping: seconds)) s" : "\(seconds) s"
  }
}

extension StatusDocument.Items {
  /// The items in the journal by state, such as `2 queued` and `5 done`; empty if there are none.
  var words: [String] {
    [
      (queued, "queued"), (allocated, "with an upload ID"), (transferred, "to be committed"), (done, "done"),
      (failed, "failed"), (ambiguous, "ambiguous"), (cancelled, "canceled"), (doneBefore, "done before"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
  }
}
