import FerryPlan
import FerryProcess
import FerryTransfer
import Synchronization

/// Reads, off the run loop's thread, the content of delivered files that are submitted again during a run (`compare:
/// content`).
final class SubmittedContents: Sendable {
  /// The files listed for one note, and the results of comparing their content. The results are `nil` until the files
  /// have been read.
  private struct Reading {
    var files: FileColumns
    var answers: [ContentComparison]?
  }

  private struct State {
    /// The readings, by note ID.
    var readings: [Int64: Reading] = [:]
    var isStopped = false
  }

  private let worker: SerialWorker
  private let state = Mutex(State())

  init(on worker: SerialWorker) { self.worker = worker }

  /// The comparisons for a note's files; `nil` while the files are being read.
  ///
  /// - Parameters:
  ///   - files: the files as listed now. If other files were read for the note before, these files are read instead.
  ///   - root: the folder to which the paths of the files are relative.
  ///   - wake: called on another thread after the files have been read.
  func answers(
    note: Int64, _ questions: ContentQuestions, of files: FileColumns, root: SourceRoot,
    wake: @escaping @Sendable () -> Void
  ) -> [ContentComparison]? {
    guard !questions.questions.isEmpty else { return questions.answers }
    let known = state.withLock { $0.readings.removeValue(forKey: note) }
    if let known, known.files == files, let answers = known.answers { return answers }
    state.withLock { $0.readings[note] = Reading(files: files) }
    let reader = ContentReader(isStopped: { [self] in state.withLock { $0.isStopped } })
    worker.submit { [self] in
      var questions = questions
      reader.answer(&questions, of: files, root: root)
      state.withLock { state in
        guard !state.isStopped, state.readings[note]?.files == files else { return }
        state.readings[note]?.answers = questions.answers
      }
      wake()
    }
    return nil
  }

  /// Whether a note's files are being read.
  func isReading(note: Int64) -> Bool {
    state.withLock { state in state.readings[note].map { $0.answers == nil } ?? false }
  }

  /// Stops reading because the run has ended.
  func stop() { state.withLock { $0.isStopped = true } }
}
