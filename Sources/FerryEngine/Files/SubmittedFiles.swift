import FerryJournal
import FerryPlan

/// Files that `ferry submit` queued for an upload, in their current state.
struct SubmittedFiles: Sendable {
  /// A submitted file that is no longer a file of the upload.
  struct Absent: Sendable {
    var failure: TransportFailure
    /// The file's last submission.
    var submitted: SubmittedVersion
  }

  struct SubmittedVersion: Sendable {
    var submittedAt: Instant
    /// The file's version at that time; `nil` in notes of older versions of ferry.
    var version: Note.Version?
  }

  private(set) var files = FileColumns()
  /// The absent files, by path. Each fails individually in the round, like a file that disappears during a
  /// run.
  private(set) var absent: [[UInt8]: Absent] = [:]
  /// The last submission of each file, by path.
  private var submissions: [[UInt8]: SubmittedVersion] = [:]

  init() {}

  /// - Throws: `ListingFailure` if the root cannot be listed.
  init(_ notes: [Note], _ lister: FileLister) throws(ListingFailure) {
    let listing = try lister.named(notes.flatMap { $0.files.map(\.path) })
    files = listing.files
    for note in notes {
      for file in note.files {
        submissions[file.path] = SubmittedVersion(submittedAt: note.createdAt, version: file.version)
      }
    }
    for problem in listing.problems {
      guard let submitted = submissions[problem.path] else { continue }
      absent[problem.path] = Absent(failure: problem.failure, submitted: submitted)
    }
  }

  /// Removes absent files whose note is outdated. An open item continues from the journal: an earlier run
  /// queued the file, but was killed before it could remove the note. If the server has the submitted file, it does not
  /// matter that the file is absent; usually, ferry has deleted or moved it since.
  mutating func leaveOutTaken(by journal: SessionJournal?, node: NodeRow?, at now: Instant)
    throws(JournalError)
  {
    guard let journal, let node, node.id != 0 else { return }
    for (path, file) in absent {
      try journal.meet(node: node.id, path: path) { item throws(JournalError) in
        let state = try item.state
        if !state.isClosed || (state == .done && file.submitted.isIncluded(in: item, at: now)) {
          absent[path] = nil
        }
      }
    }
  }

  /// Whether a failed or canceled item was submitted again after it was queued. Its previous result does not apply to
  /// the new submission.
  ///
  /// - Parameter now: if the item was queued after this time, the clock was set back; the item then counts as
  ///   submitted again.
  func isNew(_ item: borrowing ItemRow, at now: Instant) -> Bool {
    guard !submissions.isEmpty, let submitted = submissions[item.path]?.submittedAt else { return false }
    return item.handedOver < submitted || item.handedOver > now
  }

  /// Whether another version of a delivered file was submitted.
  func isOther(_ item: borrowing ItemRow, at now: Instant) -> Bool {
    guard !submissions.isEmpty, let submitted = submissions[item.path] else { return false }
    return submitted.version == nil ? isNew(item, at: now) : !submitted.isIncluded(in: item, at: now)
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

extension SubmittedFiles.SubmittedVersion {
  /// Whether a delivered or ambiguous item is the submitted version of its file, or a later one.
  fileprivate func isIncluded(in item: borrowing ItemRow, at now: Instant) -> Bool {
    guard let version else { return item.closedAt.map { $0 >= submittedAt } ?? false }
    if item.version == version { return true }
    // The file was changed after its submission, and was queued later. A time in the future is that of a wrong clock.
    return item.modified >= version.modified
      && (submittedAt...max(submittedAt, now)).contains(item.handedOver)
  }
}

extension ItemRow {
  fileprivate var version: Note.Version { Note.Version(size: size, modified: modified) }
}

extension SubmittedFiles {
  /// Submitted files that a run has not queued, because another version of each was queued before and has to end first.
  struct Postponed {
    var paths: Set<[UInt8]> = []
    /// The paths whose other version is ambiguous, so that the user has to decide first.
    var undecided: Set<[UInt8]> = []

    /// Whether all the files wait for decisions of the user.
    func isUndecided(_ note: Note) -> Bool {
      !note.files.isEmpty && note.files.allSatisfy { undecided.contains($0.path) }
    }
  }

  /// Compares the submitted versions with the run's items and the ambiguous items of the journal.
  func postponed(
    by scheduler: Scheduler, _ journal: SessionJournal?, _ node: NodeID, _ row: NodeRow?
  ) throws(JournalError) -> Postponed {
    var postponed = Postponed()
    let others = scheduler.otherVersions(of: columns, of: node)
    for other in 0..<others.count {
      let path = Array(others.path(other))
      let version = Note.Version(size: others.sizes[other], modified: others.modified[other])
      if submissions[path]?.version != version { postponed.paths.insert(path) }
    }
    if let journal, let row, row.id != 0 {
      try journal.forEachAmbiguous(node: row.id) { item in
        let path = item.path
        guard let submitted = submissions[path], submitted.version != nil,
          !submitted.isIncluded(in: item, at: scheduler.now)
        else { return }
        postponed.undecided.insert(path)
      }
    }
    postponed.paths.formUnion(postponed.undecided)
    return postponed
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
