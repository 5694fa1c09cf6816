import FerryJournal
import FerryPlan
import FerryProcess
import Foundation
import Synchronization

/// Carries out `after` beside the loop, in batches, and writes down what became of each file.
///
/// Whoever gives it a file has the item's end on the disk. What queues up while it works is its next batch.
///
/// `@unchecked Sendable`: `uploads` is touched only by blocks on `worker`, which runs one at a time.
final class PostDeliveryWorker: @unchecked Sendable {
  /// An upload whose files are deleted or moved.
  struct Destination {
    var delivery: AfterDelivery
    /// Which of the writer's journals.
    var journal: Int
  }

  private struct State {
    var waiting: [(node: Int, file: DeliveredFile)] = []
    var metrics: [Int: PostDeliveryMetrics]
    /// A write is lost: nothing more is touched.
    var hasFailed = false
  }

  private let worker: SerialWorker
  private let writer: JournalWriter
  /// By node.
  private let uploads: [Int: Destination]
  private let state: Mutex<State>

  /// - Parameter tallies: by node, what was done before.
  init(
    _ uploads: [Int: Destination], on worker: SerialWorker, writer: JournalWriter,
    metrics: [Int: PostDeliveryMetrics]
  ) {
    self.worker = worker
    self.uploads = uploads
    self.writer = writer
    state = Mutex(State(metrics: metrics))
  }

  /// Takes files of a node whose items' ends are on the disk.
  func take(_ files: [(node: Int, file: DeliveredFile)]) {
    guard !files.isEmpty else { return }
    let isIdle = state.withLock { state in
      defer { state.waiting += files }
      return state.waiting.isEmpty
    }
    if isIdle { worker.submit { [self] in carryOut() } }
  }

  /// Waits until everything is carried out and handed to the journal's writer; by node, what came of it.
  func finish() -> [Int: PostDeliveryMetrics] {
    worker.drain()
    return state.withLock { $0.metrics }
  }

  private func carryOut() {
    let batch = state.withLock { state in
      defer { state.waiting = [] }
      return state.hasFailed ? [] : state.waiting
    }
    for (node, files) in Dictionary(grouping: batch, by: \.node) {
      guard let upload = uploads[node] else { continue }
      let results = files.map { ($0.file, upload.delivery.carryOut($0.file)) }
      let isSynced = upload.delivery.sync()
      state.withLock { state in
        for (file, result) in results {
          state.metrics[node, default: PostDeliveryMetrics()].count(result, of: file.path)
        }
      }
      // What may not be on the disk stays owed: the next run looks again.
      guard isSynced else { continue }
      let writes = results.map { file, result -> JournalWrite in
        result.state == .owed ? .afterTried(row: file.row) : .after(row: file.row, result.state)
      }
      do throws(JournalError) {
        _ = try writer.append(writes, to: upload.journal)
      } catch {
        // The run ends by the writer's own word.
        state.withLock { $0.hasFailed = true }
      }
    }
  }
}
