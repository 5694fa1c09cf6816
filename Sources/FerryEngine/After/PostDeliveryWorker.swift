import FerryJournal
import FerryPlan
import FerryProcess
import Foundation
import Synchronization

/// Executes `after` actions in batches off the run loop's thread, and journals the result of each file.
///
/// The caller passes only files whose delivery is recorded on disk. Files that arrive while a batch is being
/// processed form the next batch.
///
/// `@unchecked Sendable`: `uploads` is accessed only by blocks on `worker`, which runs them one at a time.
final class PostDeliveryWorker: @unchecked Sendable {
  /// An upload whose delivered files are deleted or moved.
  struct Destination {
    var delivery: AfterDelivery
    /// The index of the journal in the writer.
    var journal: Int
  }

  /// Destinations that are being passed to the worker.
  ///
  /// `@unchecked Sendable`: after calling `add`, the caller reads only `AfterDelivery.root`, which does not change.
  private struct Destinations: @unchecked Sendable { let uploads: [Int: Destination] }

  private struct State {
    var waiting: [(node: Int, file: DeliveredFile)] = []
    var metrics: [Int: PostDeliveryMetrics]
    /// Whether a journal write has failed. If so, no more files are deleted or moved.
    var hasFailed = false
    /// The time after which the worker processes no more files, because the run was stopped; `nil` if there is no
    /// limit.
    var end: ContinuousClock.Instant?
    /// While the run waits for the worker: the time that remains if the run has been stopped; `nil` if it has not been.
    var timeAfterStop: (@Sendable () -> Duration?)?

    /// Whether the time after a stop has passed.
    mutating func isOver(at now: ContinuousClock.Instant) -> Bool {
      if let rest = timeAfterStop?() { end = min(end ?? now + rest, now + rest) }
      return end.map { $0 <= now } ?? false
    }
  }

  private let worker: SerialWorker
  private let writer: any JournalAppending
  /// The destinations, by node.
  private var uploads: [Int: Destination]
  private let state: Mutex<State>

  /// - Parameter metrics: the results so far, by node.
  init(
    _ uploads: [Int: Destination], on worker: SerialWorker, writer: any JournalAppending,
    metrics: [Int: PostDeliveryMetrics]
  ) {
    self.worker = worker
    self.uploads = uploads
    self.writer = writer
    state = Mutex(State(metrics: metrics))
  }

  /// Adds the uploads of a manifest that has joined the launch.
  func add(_ uploads: [Int: Destination]) {
    guard !uploads.isEmpty else { return }
    let more = Destinations(uploads: uploads)
    worker.submit { [self] in self.uploads.merge(more.uploads) { $1 } }
  }

  /// Queues files whose delivery is recorded on disk.
  func take(_ files: [(node: Int, file: DeliveredFile)]) {
    guard !files.isEmpty else { return }
    let isIdle = state.withLock { state in
      defer { state.waiting += files }
      return state.waiting.isEmpty
    }
    if isIdle { worker.submit { [self] in carryOut() } }
  }

  /// Waits until all actions have been performed and their results queued for the journal; returns the results, by
  /// node.
  ///
  /// - Parameters:
  ///   - limit: the maximum time to wait if the run was stopped; `nil` means no limit. The remaining files stay pending.
  ///   - timeAfterStop: the maximum time to wait if the run is stopped during the wait, from then on; `nil` while it is not.
  ///     Called before each file, on the worker's thread.
  func finish(
    within limit: Duration? = nil, orAfterStop timeAfterStop: @escaping @Sendable () -> Duration? = { nil }
  ) -> [Int: PostDeliveryMetrics] {
    state.withLock { state in
      if let limit { state.end = .now + limit }
      state.timeAfterStop = timeAfterStop
    }
    worker.drain()
    return state.withLock { $0.metrics }
  }

  private var isOver: Bool { state.withLock { $0.isOver(at: .now) } }

  private func carryOut() {
    let batch = state.withLock { state in
      defer { state.waiting = [] }
      return state.hasFailed ? [] : state.waiting
    }
    for (node, files) in Dictionary(grouping: batch, by: \.node) {
      guard let upload = uploads[node] else { continue }
      var results: [(DeliveredFile, AfterResult)] = []
      for (_, file) in files {
        guard !isOver else { break }
        results.append((file, upload.delivery.carryOut(file)))
      }
      let remaining = files.count - results.count
      let isSynced = upload.delivery.sync()
      state.withLock { state in
        for (file, result) in results {
          state.metrics[node, default: PostDeliveryMetrics()].count(result, of: file.path)
        }
        state.metrics[node, default: PostDeliveryMetrics()].remaining += remaining
      }
      // If it is unknown whether the changes are on disk, the files stay pending, and the next run checks them again.
      guard isSynced else { continue }
      let writes = results.map { file, result -> JournalWrite in
        result.state == .owed ? .afterTried(row: file.row) : .after(row: file.row, result.state)
      }
      do throws(JournalError) {
        _ = try writer.append(writes, to: upload.journal)
      } catch {
        // The writer reports the failure, which ends the run.
        state.withLock { $0.hasFailed = true }
      }
    }
  }
}
