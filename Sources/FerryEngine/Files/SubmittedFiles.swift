import FerryJournal
import FerryPlan

/// Files that `ferry submit` left for an upload, as they are now.
struct SubmittedFiles: Sendable {
  /// One that is no file of the upload any more.
  struct Absent: Sendable {
    var failure: TransportFailure
    var submittedAt: Instant
  }

  private(set) var files = FileColumns()
  /// By path. Each has an end of its own in the round, as a file that vanishes during a run.
  private(set) var absent: [[UInt8]: Absent] = [:]
  /// By path: when each was last submitted.
  private var moments: [[UInt8]: Instant] = [:]

  init() {}

  /// - Throws: where the root cannot be listed.
  init(_ notes: [Note], _ lister: FileLister) throws(ListingFailure) {
    let listing = try lister.named(notes.flatMap(\.paths))
    files = listing.files
    for note in notes { for path in note.paths { moments[path] = note.createdAt } }
    for problem in listing.problems {
      guard let submittedAt = moments[problem.path] else { continue }
      absent[problem.path] = Absent(failure: problem.failure, submittedAt: submittedAt)
    }
  }

  /// Leaves out what an earlier run took, and did not live to remove the note: what it began goes on from the journal,
  /// and what was delivered since it was submitted is deleted or moved by now.
  mutating func leaveOutTaken(by journal: SessionJournal?, node: NodeRow?) throws(JournalError) {
    guard let journal, let node, node.id != 0 else { return }
    for (path, file) in absent {
      try journal.meet(node: node.id, path: path) { item throws(JournalError) in
        let state = try item.state
        let isDelivered = state == .done && item.closedAt.map { $0 >= file.submittedAt } ?? false
        if isDelivered || !state.isClosed { absent[path] = nil }
      }
    }
  }

  /// Whether an item that ended in vain was submitted since it was handed over: its end answers nobody who left it then.
  ///
  /// - Parameter now: a clock that was set back tells nothing of an item that was handed over after this.
  func isNew(_ item: borrowing ItemRow, at now: Instant) -> Bool {
    guard !moments.isEmpty, let submitted = moments[item.path] else { return false }
    return item.handedOver < submitted || item.handedOver > now
  }

  /// Leaves out what was not there and is now.
  mutating func leaveOutThoseThere(_ listed: FileColumns) {
    guard !absent.isEmpty else { return }
    for file in 0..<listed.count { absent[Array(listed.path(file))] = nil }
  }

  /// All of them, with nothing in those that are not there.
  var columns: FileColumns {
    guard !absent.isEmpty else { return files }
    var missing = FileColumns()
    for path in absent.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      missing.append(path: path, size: 0, modified: 0)
    }
    var all = Listing(files: files, problems: [])
    all.merge(Listing(files: missing, problems: []))
    return all.files
  }
}

extension ListingProblem {
  /// As sending it would fail.
  var failure: TransportFailure {
    let code: TransportFailure.Code =
      switch kind {
      case .missing: .sourceMissing
      case .permission, .notRegular, .outsideRoot, .leavingLink, .foreignLink, .putAway, .other:
        .sourceUnreadable
      }
    return TransportFailure(code, "\(self)", mayHaveReachedServer: false)
  }
}

extension RunRecord.FileProblem {
  init(_ problem: ListingProblem) {
    self.init(path: problem.path, code: problem.failure.code.rawValue, message: problem.message)
  }
}

extension SessionJournal {
  /// As `item`, with errors that tell of the file.
  func meet(
    node: Int64, path: [UInt8], _ body: (borrowing ItemRow) throws(JournalError) -> Void
  ) throws(JournalError) {
    do {
      try item(node: node, path: path, body)
    } catch let error as JournalError {
      throw error
    } catch {
      throw JournalError(.io, file: self.path, cause: "\(error)")
    }
  }
}
