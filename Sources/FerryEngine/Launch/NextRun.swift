import FerryPlan
import FerryReport

extension NextRun {
  /// The time at which a run would next have work.
  init(_ preview: RunPreview) throws {
    let hasWork =
      try !preview.notes.isEmpty || Self.hasPendingEvents(preview) || Self.owesAfter(preview)
    let moment = hasWork ? preview.moment : preview.look.nextMoment(at: preview.moment)
    // Round the time up, because the output is in whole seconds: a run in the second before would have
    // nothing to do.
    let when: When = moment.map { $0 <= preview.moment ? .now : .later } ?? .event
    self.init(
      manifest: preview.job.plan.manifest, path: preview.job.path, when: when,
      moment: moment.map { $0 <= preview.moment ? $0 : $0.roundedUpToSecond },
      reason: when == .now ? nil : Self.reason(preview, until: moment))
  }

  private static func reason(_ preview: RunPreview, until moment: Instant?) -> RecordedFailure {
    let reasons = preview.look.reasons.sorted { $0.key < $1.key }.map(\.value)
    if let reason = reasons.first(where: { $0.until == moment }) ?? reasons.first { return reason }
    for (index, start) in preview.launchState.starts.enumerated() {
      guard case .notDue(let until, let failed) = start, until == moment else { continue }
      let failure = failed.map { "; \($0.reason.message)" } ?? ""
      return .init(
        code: .notDue, message: "fetch '\(preview.job.plan.nodes[index].name)' is not due\(failure)",
        until: until)
    }
    return rest(preview)
  }

  /// Whether a session's `on_events` still has to be started.
  private static func hasPendingEvents(_ preview: RunPreview) throws -> Bool {
    try preview.journals.owedEvents.contains { !preview.job.plan.sessions[$0.index].onEvents.isEmpty }
  }

  /// Whether delivered files still have to be deleted or moved. A run processes these files first, even if
  /// all other work has to wait. If a run has already tried and failed, the file does not count: a run for
  /// such files alone would fail in the same way, so they wait until a run has other work.
  private static func owesAfter(_ preview: RunPreview) throws -> Bool {
    let plan = preview.job.plan
    return try preview.journals.uploadRows(of: plan).contains { index, rows in
      let journal = preview.journals.all[plan.nodes[index].session.index]
      return try rows.contains { try journal?.owesUntriedAfter(node: $0.id) == true }
    }
  }

  /// The reason why there is nothing to send.
  private static func rest(_ preview: RunPreview) -> RecordedFailure {
    let owed = preview.launchState.starts.reduce(0) { count, start in
      guard case .upload(_, let settled) = start else { return count }
      return count + settled.owedAfter
    }
    guard owed > 0 else { return .init(code: .done, message: "there is nothing to send") }
    return .init(
      code: .afterOwed,
      message:
        "there is nothing to send; the next run retries moving or deleting \(Count.text(owed, "delivered file"))"
    )
  }
}

extension Instant {
  fileprivate var roundedUpToSecond: Instant {
    let rest = nanoseconds % 1_000_000_000
    return rest > 0 ? advanced(by: .nanoseconds(1_000_000_000 - rest)) : self
  }
}
