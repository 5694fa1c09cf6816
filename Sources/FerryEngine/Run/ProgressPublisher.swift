import FerryJournal
import FerryPlan
import FerryProcess
import Foundation
import Synchronization

/// Publishes the progress of a run on a separate thread, at most once a second. A run that takes less than a second
/// publishes nothing.
final class ProgressPublisher {
  private let run: String
  private let startedAt: Instant
  private let state: StateDirectory
  private let worker: SerialWorker
  private var next: Instant
  /// Whether the progress that was published last contained requests in progress.
  private var wasBusy = false
  private let isWriting = Flag()

  static let interval = Duration.seconds(1)

  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  init(run: String, startedAt: Instant, state: StateDirectory, worker: SerialWorker) {
    self.run = run
    self.startedAt = startedAt
    self.state = state
    self.worker = worker
    next = startedAt.advanced(by: Self.interval)
  }

  /// Publishes the progress if an update is due.
  ///
  /// - Returns: whether the published progress will be out of date within the interval, so that the loop should make
  ///   another turn by then.
  func turn(_ scheduler: Scheduler, _ loop: any TransferPerforming, at now: Instant) -> Bool {
    let isBusy = scheduler.inFlight > 0
    guard isBusy || wasBusy else { return false }
    guard now >= next, !isWriting.value.exchange(true, ordering: .acquiring) else { return true }
    next = now.advanced(by: Self.interval)
    wasBusy = isBusy
    let moving = loop.progress
    let progress = RunProgress(
      run: run, pid: getpid(), startedAt: startedAt, at: now, itemsDone: scheduler.metrics.itemsDone,
      itemsOpen: scheduler.itemsOpen, isListing: scheduler.isListing, failed: scheduler.failedCount,
      bytes: scheduler.metrics.usefulBytes +| moving.bodySent +| moving.bodyReceived,
      inFlight: scheduler.inFlight, waitsFor: scheduler.pause,
      requests: scheduler.activeRequests(limit: RunProgress.mostRequests, at: now) { loop.traffic(of: $0) })
    worker.submit { [isWriting, state] in
      ProgressFile.write(progress, in: state)
      isWriting.value.store(false, ordering: .releasing)
    }
    return isBusy
  }

  /// Removes the progress when the run's work has ended.
  func end() {
    worker.drain()
    ProgressFile.remove(ofRun: run, in: state)
  }
}
