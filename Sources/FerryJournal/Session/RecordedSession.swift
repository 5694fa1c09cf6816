import FerryPlan

/// What a session's next launch has to know besides its nodes and items.
package struct RecordedSession: Sendable {
  /// By how much the last resume delays what starts, and when it was; `nil` without a delay.
  package var delay: (period: Duration, resumedAt: Instant)?
  /// `on_events` is still to be started for a batch that is through.
  package var hasPendingEvents: Bool
}
