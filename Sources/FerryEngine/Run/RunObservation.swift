import FerryPlan
import FerryReport
import FerryTransfer

/// What a run loop shows while it runs: its events, its progress, and the parts of the report that are recorded during
/// the run.
struct RunObservation {
  /// The interval at which a progress display needs a turn; `nil` if there is no display.
  var refresh: Duration?
  /// Publishes the progress after each turn; returns whether another turn is needed soon.
  var publish: ((Scheduler, any TransferPerforming) -> Bool)?
  /// Receives the run's events; `nil` if nothing needs them.
  var onEvent: ((borrowing RunEvent) -> Void)?
  /// Called with each request as it was sent; `nil` if requests are not traced.
  var onTrace: ((HAREntry) -> Void)?
  /// Called before each wait, and after the last turn.
  var flushEvents: () -> Void = {}
  /// The digests of files, if the report lists every item.
  private(set) var digests: ItemDigests?
  private let onProgress: (Scheduler, () -> Traffic) -> Void
  private var timelineRecorder: TimelineRecorder
  /// Whether the published progress will soon be out of date.
  private var isStale = false

  init(
    startedAt: Instant, keepsDigests: Bool, onProgress: @escaping (Scheduler, () -> Traffic) -> Void
  ) {
    timelineRecorder = TimelineRecorder(startedAt: startedAt)
    digests = keepsDigests ? ItemDigests() : nil
    self.onProgress = onProgress
  }

  /// The progress of the run so far.
  func timeline(of scheduler: Scheduler, at now: Instant) -> RunTimeline {
    timelineRecorder.ended(scheduler, at: now)
  }

  /// Shows the state after a turn.
  mutating func turn(_ scheduler: Scheduler, _ loop: any TransferPerforming, at now: Instant) {
    timelineRecorder.turn(scheduler, loop.progress, at: now)
    // The traffic of all requests is added up only if it is needed.
    onProgress(scheduler) { loop.progress }
    isStale = publish?(scheduler, loop) ?? false
  }

  /// The longest wait after which the progress must be shown or published again; `nil` if there is no limit.
  ///
  /// - Parameter interval: the interval between two turns while requests are in progress; `nil` if none are.
  func longestWait(busy interval: Duration?) -> Duration? {
    let longest = isStale ? ProgressPublisher.interval : interval
    // Without a request in progress, a display changes only because of the time.
    guard let refresh = refresh.map({ interval != nil ? $0 : max($0, .seconds(1)) }) else { return longest }
    return min(longest ?? refresh, refresh)
  }

  /// Shows the ends of items and the resumes of sessions, and keeps the digests of items that have ended, whose other
  /// values are dropped when the end is recorded.
  mutating func take(
    _ entries: [JournalEntry], _ scheduler: Scheduler, _ captures: CaptureStore, at now: Instant
  ) {
    for entry in entries {
      switch entry {
      case .sessionResumed(let session, let delay):
        guard delay.resumedAt != nil else { continue }
        let name = scheduler.plan.sessions[session.index].name
        timelineRecorder.resumed(name, period: delay.period, at: now)
        onEvent?(.resumed(at: now, session: name, period: delay.period))
      case .itemClosed(let ref, let state, let failure, let at):
        if digests != nil, let digest = captures[ref].sha256 { digests?[ref] = digest }
        onEvent?(scheduler.event(ended: ref, state, failure, at: at))
      case .itemsQueued, .intentRecorded, .intentWithdrawn, .uploadIDAllocated, .transferAdvanced,
        .uploadIDUpdated, .fileTransferred, .uploadIDDiscarded, .uploadIDOrphaned, .orphanResolved,
        .orphanReleaseFailed, .fetchFailed, .nodeFailing, .sessionInForeground, .batchCompleted:
        continue
      }
    }
  }
}
