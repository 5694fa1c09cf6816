extension Instant {
  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
  var wholeSeconds: Int { Int(nanoseconds.floorDivided(by: 1_000_000_000)) }

  /// Saturates at the ends of the range, so that the second in which the range begins gives its first
  /// moment.
  init(wholeSeconds: Int) {
    let (product, overflow) = Int64(wholeSeconds).multipliedReportingOverflow(by: 1_000_000_000)
    self.init(nanoseconds: overflow ? (wholeSeconds < 0 ? .min : .max) : product)
  }
}
