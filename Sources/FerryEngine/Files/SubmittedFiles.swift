import FerryJournal
import FerryPlan

/// Files that `ferry submit` queued for an upload, in their current state.
struct SubmittedFiles: Sendable {
  /// A submitted file that is no longer a file of the upload.
  struct Absent: Sendable {
    var failure: TransportFailure
    var submittedAt: Instant
  }

  private(set) var files = FileColumns()
  /// The absent files, by path. Each fails individually in the round, like a file that disappears during a
  /// run.
  private(set) var absent: [[UInt8]: Absent] = [:]
  /// The time at which each file was last submitted, by path.
  private var moments: [[UInt8]: Instant] = [:]

  init() {}

  /// - Throws: `ListingFailure` if the root cannot be listed.
  init(_ notes: [Note], _ lister: FileLister) throws(ListingFailure) {
    let listing = try lister.named(notes.flatMap(\.paths))
    files = listing.files
    for note in notes { for path in note.paths { moments[path] = note.createdAt } }
    for problem in listing.problems {
      guard let submittedAt = moments[problem.path] else { continue }
      absent[problem.path] = Absent(failure: problem.failure, submittedAt: submittedAt)
    }
  }

  /// Removes absent files whose note is outdated. An open item continues from the journal: an earlier run
  /// queued the file, but was killed before it could remove the note. A file that was delivered after its
  /// submission is absent because ferry deleted or moved it.
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

  /// Whether a failed or canceled item was submitted again after it was queued. Its previous result does not apply to
  /// the new submission.
  ///
  /// - Parameter now: if the item was queued after this time, the clock was set back; the item then counts as
  ///   submitted again.
  func isNew(_ item: borrowing ItemRow, at now: Instant) -> Bool {
    guard !moments.isEmpty, let submitted = moments[item.path] else { return false }
    return item.handedOver < submitted || item.handedOver > now
  }

  /// Removes absent files that are in the listing.
  mutating func leaveOutThoseThere(_ listed: FileColumns) {
    guard !absent.isEmpty else { return }
    for file in 0..<listed.count { absent[Array(listed.path(file))] = nil }
  }

  /// All files; absent files have size and time 0.
  var columns: FileColumns {
    guard !absent.isEmpty else { return files }
    var missing = FileColumns()
    for path in absent.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      missing.append(path: path, size: 0, modified: 0)
    }
    var all = Listing(files: files)
    all.merge(missing)
    return all.files
  }
}

extension ListingProblem {
  /// The failure that would result from sending the file.
  var failure: TransportFailure {
    let code: TransportFailure.Code =
      switch kind {
      case .missing: .sourceMissing
      case .permission, .notRegular, .outsideRoot, .leavingLink, .foreignLink, .putAway, .stateFolder,
        .unknownState, .temporary, .other:
        .sourceUnreadable
      }
    return TransportFailure(code, "\(self)", mayHaveReachedServer: false)
  }
}

extension ListingProblem {
  /// The failure of a file that belonged to the upload when it was queued.
  var failureOfKnownFile: TransportFailure {
    guard kind == .outsideRoot else { return failure }
    return TransportFailure(
      .sourceChanged,
      "\(DisplayPath.shown(path)): after the file was queued, a symbolic link replaced it or a folder above it. "
        + "The link leads out of the root, so its target was not read. Put the file back, or change 'root'",
      mayHaveReachedServer: false)
  }
}

extension RunRecord.FileProblem {
  init(_ problem: ListingProblem) {
    self.init(
      path: problem.path, code: problem.root ?? .init(problem.failure.code), message: problem.message)
  }
}

extension SessionJournal {
  /// Like `item(node:path:_:)`, but converts every error that is not a `JournalError` to one.
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
