import FerryManifest

extension Fetch.Interval {
  /// The interval that counts now: the one kept from the last fetch, within the bounds as they are today.
  ///
  /// - Parameter kept: what `next` gave after the last fetch that ended well; `nil` before the first, and in a
  ///   journal of a ferry that kept none.
  /// - Returns: `minimum` where nothing is kept; `nil` where it has no bounds.
  package func present(kept: Duration?) -> Duration? {
    switch self {
    case .everyRun, .never: nil
    case .minimum(let minimum): minimum
    case .adaptive(let minimum, let maximum): Swift.min(Swift.max(kept ?? minimum, minimum), maximum)
    }
  }

  /// The interval after a fetch that ended so: after `no_data` twice the present one, from 0 to 1 s, at most
  /// `maximum`; after `new_data` `minimum` again; after `failed` as it was.
  ///
  /// With `{ minimum: 15m, maximum: 6h }`, one fetch after the other:
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
      // Halved rather than doubled: a huge maximum must not overflow.
      guard present < maximum / 2 else { return maximum }
      return present == .zero ? Swift.min(.seconds(1), maximum) : present * 2
    }
  }

  /// Whether a fetch that has not ended in this round is asked for now.
  ///
  /// - Parameters:
  ///   - last: when the last one ended well.
  ///   - kept: as for `present`.
  package func start(last: Instant?, kept: Duration?, at now: Instant) -> NodeStart {
    if case .never = self { return .switchedOff }
    guard let last, let present = present(kept: kept) else { return .open }
    let due = last.advanced(by: present)
    // A moment of the last fetch that lies ahead is a clock that was set back.
    return now < due && last <= now ? .notDue(until: due) : .open
  }
}
