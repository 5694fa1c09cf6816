import FerryPlan

/// The recorded state that a session's next launch needs in addition to its nodes and items.
package struct RecordedSession: Sendable {
  /// The period by which the last resume delays the start of work, and the time of that resume; `nil` if
  /// there is no delay.
  package var delay: (period: Duration, resumedAt: Instant)?
  /// The time up to which queued work is not inferred to be discretionary; `nil` before the first foreground
  /// launch.
  package var foregroundAt: Instant?
  /// Whether `on_events` must still be started for a completed batch.
  package var hasPendingEvents: Bool
}
