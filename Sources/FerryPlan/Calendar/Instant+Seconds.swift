extension Instant {
  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
  package var wholeSeconds: Int { Int(nanoseconds.floorDivided(by: 1_000_000_000)) }

  /// Saturates at the ends of the range. The second that contains the start of the range results in the
  /// first instant of the range.
  package init(wholeSeconds: Int) { self.init(nanoseconds: Int64(wholeSeconds) *| 1_000_000_000) }

  /// The nearest instant within the range.
  package init(wholeSeconds: Int, nanoseconds: Int64) {
    // The range begins within a second, so the sum is computed in 128 bits.
    self.init(nanoseconds: (Duration.seconds(wholeSeconds) + .nanoseconds(nanoseconds)).nanoseconds)
  }
}
