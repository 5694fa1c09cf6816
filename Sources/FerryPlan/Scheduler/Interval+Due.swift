import FerryManifest

extension Fetch.Interval {
  /// The current interval. An adaptive interval is the one kept from the last fetch, clamped to the current
  /// bounds.
  ///
  /// - Parameter kept: the result of `next` after the last successful fetch; `nil` before the first fetch,
  ///   and in a journal written by a version of ferry that did not keep it.
  /// - Returns: `minimum` if the interval is not adaptive or none was kept; `nil` if the fetch has no
  ///   interval bounds.
  package func present(kept: Duration?) -> Duration? {
    switch self {
    case .everyRun, .never: nil
    case .minimum(let minimum): minimum
    case .adaptive(let minimum, let maximum): Swift.min(Swift.max(kept ?? minimum, minimum), maximum)
    }
  }

  /// The interval after a fetch with this result.
  ///
  /// An adaptive interval is doubled after `no_data` (0 becomes 1 s), up to `maximum`. After `new_data`, it
  /// is `minimum`. After `failed`, it does not change. All other intervals are fixed.
  ///
  /// With `{ minimum: 15m, maximum: 6h }`, for consecutive fetches:
  ///
  /// | result | present | next |
  /// |---|---|---|
  /// | `new_data`, the first | 15 min | 15 min |
  /// | `no_data` | 15 min | 30 min |
  /// | `no_data` | 30 min | 60 min |
  /// | `failed` | 60 min | 60 min |
  /// | `no_data` | 60 min | 120 min |
  /// | `no_data` | 120 min | 240 min |
  /// | `no_data` | 240 min | 360 min |
  /// | `no_data` | 360 min | 360 min |
  /// | `new_data` | 360 min | 15 min |
  package func next(after result: FetchResult, kept: Duration?) -> Duration? {
    guard let present = present(kept: kept) else { return nil }
    switch (self, result) {
    case (_, .failed), (.everyRun, _), (.never, _), (.minimum, _): return present
    case (.adaptive(let minimum, _), .newData): return minimum
    case (.adaptive(_, let maximum), .noData):
      // Halves the maximum instead of doubling the interval, so that a huge maximum does not cause an
      // overflow.
      guard present < maximum / 2 else { return maximum }
      return present == .zero ? Swift.min(.seconds(1), maximum) : present * 2
    }
  }

  /// The shortest time between two attempts; `nil` if the fetch has no interval bounds.
  private var minimum: Duration? {
    switch self {
    case .everyRun, .never: nil
    case .minimum(let minimum), .adaptive(let minimum, _): minimum
    }
  }

  /// Whether a fetch that has not ended in this round is due now.
  ///
  /// - Parameters:
  ///   - last: the time at which the last successful fetch ended.
  ///   - kept: as for `present`.
  ///   - failed: the last attempt, if it failed. The next one is due after `minimum`, even if the interval is longer.
  package func start(last: Instant?, kept: Duration?, failed: FailedFetch? = nil, at now: Instant)
    -> NodeStart
  {
    if case .never = self { return .switchedOff }
    if let failed, let minimum {
      let due = failed.at.advanced(by: minimum)
      return now < due && failed.at <= now ? .notDue(until: due, after: failed) : .open
    }
    guard let last, let present = present(kept: kept) else { return .open }
    let due = last.advanced(by: present)
    // If the last fetch is in the future, the clock was set back.
    return now < due && last <= now ? .notDue(until: due) : .open
  }
}
