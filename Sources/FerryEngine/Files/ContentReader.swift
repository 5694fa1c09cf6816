import FerryPlan
import FerryProcess
import FerryTransfer
import Foundation
import Synchronization

/// Reads delivered files to determine whether they changed: `compare: content`.
///
/// Reads as many files at a time as there are cores, on the calling thread and on additional threads. Each file is read
/// in pieces. `answer(_:of:root:)` blocks until all files are read, so it must not be called on a thread that runs
/// Swift tasks.
struct ContentReader: Sendable {
  /// The number of files distributed to threads at a time.
  private static let batch = 4096

  /// Whether to skip the remaining files. Called before each piece of a file is read, on any thread.
  var isStopped: @Sendable () -> Bool = { false }

  /// Compares all files. If a file cannot be read completely, the attempt to send it reports the error.
  ///
  /// - Parameter root: the folder to which the listing's paths are relative.
  func answer(_ questions: inout ContentQuestions, of listing: FileColumns, root: SourceRoot) {
    let all = questions.questions
    for start in stride(from: 0, to: all.count, by: Self.batch) {
      let batch = all[start..<min(start + Self.batch, all.count)]
      let sources = batch.map { question in
        TransferRequest.FileSource(
          root: root, path: Array(listing.path(question.index)), size: listing.sizes[question.index],
          modified: listing.modified[question.index], identity: listing.identities[question.index])
      }
      for (question, digest) in zip(batch, digests(of: sources)) { questions.answer(question, digest) }
    }
  }

  private func digests(of sources: [TransferRequest.FileSource]) -> [ContentDigest?] {
    let work = Work(count: sources.count)
    let workers = min(ProcessInfo.processInfo.activeProcessorCount, sources.count)
    ParallelWork.perform(workers: workers) { [isStopped] in
      while !isStopped(), let index = work.next() {
        // The attempt to send the file reports why it cannot be read.
        guard let bytes = try? FileDigest.sha256(of: sources[index], isStopped: isStopped) else { continue }
        work.keep(ContentDigest(bytes), at: index)
      }
    }
    return work.digests
  }

  /// The state that the threads share.
  private final class Work: Sendable {
    private let count: Int
    private let taken = Atomic<Int>(0)
    private let found: Mutex<[ContentDigest?]>

    init(count: Int) {
      self.count = count
      found = Mutex(Array(repeating: nil, count: count))
    }

    func next() -> Int? {
      let index = taken.add(1, ordering: .relaxed).oldValue
      return index < count ? index : nil
    }

    func keep(_ digest: ContentDigest?, at index: Int) { found.withLock { $0[index] = digest } }

    var digests: [ContentDigest?] { found.withLock { $0 } }
  }
}
