import FerryPlan
import FerryProcess
import FerryTransfer
import Foundation
import Synchronization

/// Reads delivered files to tell whether they changed: `compare: content`.
///
/// As many at a time as there are cores, each in pieces; the calling thread waits, and is none of a scheduler.
struct ContentReader: Sendable {
  /// So many files are shared out at a time.
  private static let batch = 4096

  /// Whether the rest is to be left unread; asked before each piece of a file, on any thread.
  var isStopped: @Sendable () -> Bool = { false }

  /// Answers every question; what could not be read to its end is for the attempt to send it to tell.
  ///
  /// - Parameter root: what the listing's paths are relative to.
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
        // Why it cannot be read is told by the attempt to send it.
        guard let bytes = try? FileDigest.sha256(of: sources[index], isStopped: isStopped) else { continue }
        work.keep(ContentDigest(bytes), at: index)
      }
    }
    return work.digests
  }

  /// What the threads share.
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
