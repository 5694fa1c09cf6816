import FerryJournal
import FerryPlan
import FerryProcess

/// Handles the notes that other processes leave for the run's sessions: files queued by `ferry submit`, and requests of
/// `ferry cancel`.
///
/// A note is removed when its request has been recorded in a journal. A note that this run could not handle
/// remains for the next run.
final class InboxProcessor {
  private var plan: Plan
  private let journals: SessionJournals
  private let inbox: Inbox
  private var listers: [Int: FileLister]
  private let removal: SessionRemoval
  private let notice: (String) -> Void
  /// The last note read, by session.
  private var lastRead: [Int64]
  /// Notes that were read but not handled yet, in reverse order.
  private var unread: [(session: Int, note: Note)] = []
  /// Sessions that a force quit canceled while this run held them, and the failure recorded for the work of
  /// each.
  private(set) var cancelled: [Int: RecordedFailure] = [:]
  /// Sessions that were canceled completely, including the work of manifests that are not part of this run.
  private var endedAsWhole: [Int: RecordedFailure] = [:]
  private var handled: HandledNotes
  /// The reasons why submitted files could not be queued and remain for the next run, by node.
  private(set) var problems: [Int: [ListingProblem]] = [:]
  private let contents: SubmittedContents
  /// The number of nodes of the manifests with which the run began.
  private let ownNodes: Int
  /// Notes to process again when notes are read next: either the note's files are being read to determine whether the
  /// files changed, or the note's manifest may join the run.
  private var waiting: [(session: Int, note: Note)] = []

  init(
    _ plan: Plan, journals: SessionJournals, inbox: Inbox, listers: [Int: FileLister],
    removal: SessionRemoval, compare: SerialWorker, notice: @escaping (String) -> Void
  ) {
    self.plan = plan
    ownNodes = plan.nodes.count
    contents = SubmittedContents(on: compare)
    self.journals = journals
    self.inbox = inbox
    self.listers = listers
    self.removal = removal
    self.notice = notice
    handled = HandledNotes(inbox, notice)
    lastRead = journals.all.map { _ in 0 }
  }

  /// Executes pending cancellations that an earlier run did not execute because it was killed. Called before the
  /// journals are read.
  ///
  /// Files submitted to another manifest after the run began are kept for `next`; files submitted earlier wait for that
  /// manifest's next run.
  ///
  /// - Returns: the files submitted to selected nodes, by node.
  func begin(
    _ selection: Selection, startedAt: Instant = .distantFuture, at now: Instant
  ) throws -> [Int: SubmittedFiles] {
    try read()
    var notes: [Int: [Note]] = [:]
    while let (session, note) = unread.popLast() {
      switch note.kind {
      case .cancel, .finish:
        guard concerns(note), let journal = journals.all[session] else { continue }
        let count = try journal.cancelOpen(
          manifest: note.manifest, reason: .cancelled(note.reason), at: now)
        notice("ferry cancel canceled \(Count.text(count, "item")) of session '\(journal.identifier)'")
        // The cancellation is synced. If this run is killed, the next one must not cancel what this one queues.
        try inbox.remove([note.id] + submitted(before: note))
        for node in notes.keys { notes[node]?.removeAll { $0.isDropped(by: note) } }
        waiting.removeAll { $0.note.isDropped(by: note) }
      case .drain:
        // The run has not started any work yet, and will complete everything that is queued, so the note requires no
        // action.
        if concerns(note) { handled.add(note.id) }
      case .submit:
        if isForeign(note), note.createdAt >= startedAt { waiting.append((session, note)) }
        guard let node = plan.upload(of: note), selection.contains(NodeID(node)) else { continue }
        notes[node, default: []].append(note)
      }
    }
    var submitted: [Int: SubmittedFiles] = [:]
    for (node, notes) in notes {
      guard let lister = listers[node] else { continue }
      let files = try SubmittedFiles(notes, lister)
      submitted[node] = files
      // The files that were not read remain for the next run.
      guard !lister.isStopped() else { continue }
      handled.add(notes, of: files, queuedBy: node)
    }
    return submitted
  }

  /// Whether there are notes that the loop has to handle when it starts.
  var hasNews: Bool { !waiting.isEmpty }

  /// Adds a manifest that has joined the run. The next call of `next` handles the note for which the manifest joined.
  ///
  /// - Parameter listers: the listers of the manifest's uploads, by node.
  func join(_ plan: Plan, listers more: [Int: FileLister], for note: Note, of session: Int) {
    self.plan = plan
    listers.merge(more) { $1 }
    unread.append((session, note))
  }

  /// A note in the form in which the loop handles it.
  enum News {
    case event(Event)
    /// Files were submitted to a manifest that is not part of the run. They are handled if that manifest
    /// joins the run.
    case foreign(Note, session: Int)
  }

  /// Returns the next note as an event for the scheduler; `nil` if there are no unread notes. The caller must handle
  /// each event before the next call.
  ///
  /// - Parameter wake: called on another thread if `next` must be called again although no new note has arrived.
  func next(
    _ scheduler: Scheduler, _ launchState: inout LaunchState, rounds: [Int64],
    wake: @escaping @Sendable () -> Void
  ) throws(JournalError) -> News? {
    if unread.isEmpty { try read() }
    while let (session, note) = unread.popLast() {
      if note.kind == .submit, isForeign(note), !scheduler.isStopping, !scheduler.isEnding {
        return .foreign(note, session: session)
      }
      let event: Event? =
        switch note.kind {
        case .cancel, .finish, .drain: try cancellation(note, SessionID(session), scheduler)
        case .submit: try submission(note, scheduler, &launchState, rounds: rounds, wake: wake)
        }
      if let event { return .event(event) }
    }
    return nil
  }

  /// Completes the cancellations of whole sessions and removes the notes that were handled. Called after all writes of
  /// the run are on disk.
  ///
  /// - Parameters:
  ///   - interrupted: uploads whose files were not all read by the run. Their notes remain.
  ///   - rows: the rows of the nodes in the journals.
  func finish(
    _ scheduler: Scheduler, unless interrupted: Set<Int>, rows: [NodeRow?], at now: Instant
  ) throws(JournalError) {
    contents.stop()
    for (session, failure) in endedAsWhole.sorted(by: { $0.key < $1.key }) {
      guard let journal = journals.all[session] else { continue }
      let others = Set(try journal.nodes.map(\.manifest)).subtracting(plan.manifests)
      for manifest in others.sorted() {
        try journal.cancelOpen(manifest: manifest, reason: failure, at: now)
      }
    }
    try handled.remove(plan, scheduler, unless: interrupted, journals, rows)
  }

  /// The manifests with submitted files that no run has queued. Called after `finish`.
  func awaited() throws(JournalError) -> Set<ManifestID> {
    var manifests: Set<ManifestID> = []
    for journal in journals.all.compactMap(\.self) {
      for note in try inbox.notes(session: journal.identifier)
      where note.kind == .submit && !handled.isUndecided(note.id) {
        if let node = plan.upload(of: note) { manifests.insert(plan.nodes[node].manifest) }
      }
    }
    return manifests
  }

  private func read() throws(JournalError) {
    unread = waiting
    waiting = []
    for (session, journal) in journals.all.enumerated() {
      guard let journal else { continue }
      let notes = try inbox.notes(session: journal.identifier, after: lastRead[session])
      lastRead[session] = notes.last?.id ?? lastRead[session]
      unread += notes.map { (session, $0) }
    }
    unread.reverse()
  }

  private func cancellation(
    _ note: Note, _ session: SessionID, _ scheduler: Scheduler
  ) throws(JournalError) -> Event? {
    guard concerns(note), !scheduler.isEnding else { return nil }
    let isForceQuit = note.kind == .cancel && (manifest(of: note) == nil || plan.manifests.count == 1)
    let removesSession = isForceQuit ? try isRemovalRequested(session) : false
    let failure = RecordedFailure.cancelled(note.reason, removesSession: removesSession)
    // A later cancellation does not change what has already ended.
    if isForceQuit { cancelled[session.index] = cancelled[session.index] ?? failure }
    if note.manifest == nil, note.kind != .drain {
      endedAsWhole[session.index] = endedAsWhole[session.index] ?? failure
    }
    handled.add(note.id)
    for id in try submitted(before: note) { handled.add(id) }
    waiting.removeAll { $0.note.isDropped(by: note) }
    return note.kind == .drain
      ? .drained(session, of: manifest(of: note), failure: failure)
      : .cancelled(session, of: manifest(of: note), finishing: note.kind == .finish, failure: failure)
  }

  private func isRemovalRequested(_ session: SessionID) throws(JournalError) -> Bool {
    guard let journal = journals.all[session.index] else { return false }
    return try removal.isRequested(
      by: [plan.policies.forceQuit], and: Set(try journal.nodes.map(\.manifest)).subtracting(plan.manifests))
  }

  /// The notes of all files submitted before a cancellation, including files that this run had left for the next run.
  private func submitted(before cancel: Note) throws(JournalError) -> [Int64] {
    try inbox.notes(session: cancel.session).filter { $0.isDropped(by: cancel) }.map(\.id)
  }

  private func submission(
    _ note: Note, _ scheduler: Scheduler, _ launchState: inout LaunchState, rounds: [Int64],
    wake: @escaping @Sendable () -> Void
  ) throws(JournalError) -> Event? {
    guard let node = plan.upload(of: note), scheduler.takesItems(NodeID(node)), let lister = listers[node]
    else {
      tellLeft(note)
      return nil
    }
    // Submitted files are compared with those of a listing, so they wait for its end.
    guard !contents.isReading(note: note.id), launchState.partialListings[node] == nil else {
      waiting.append((plan.nodes[node].session.index, note))
      return nil
    }
    let submitted: SubmittedFiles
    do throws(ListingFailure) {
      submitted = try SubmittedFiles([note], lister)
    } catch {
      notice("\(plan.title(of: NodeID(node))): \(error)")
      let message = "\(error); the submitted files remain for the next run"
      problems[node, default: []].append(
        ListingProblem(path: [0x2E], kind: .missing, message: message, root: error.root?.code))
      return nil
    }
    // The files that were not read remain for the next run.
    guard !lister.isStopped() else { return nil }
    let ref = (node: node, round: rounds[plan.nodes[node].manifest.index])
    guard let (items, isAll) = try items(submitted, of: note, ref, scheduler, &launchState, wake: wake) else {
      waiting.append((plan.nodes[node].session.index, note))
      return nil
    }
    if isAll {
      handled.add(note.id, queuedBy: node)
    } else {
      handled.addPart(of: note, submitted.files, queuedBy: node)
      tellLeft(note, isPart: true)
    }
    return items.count > 0 ? .submitted(NodeID(node), items) : nil
  }

  /// Reports that submitted files remain for the next run.
  func tellLeft(_ note: Note, isPart: Bool = false, _ reason: String? = nil) {
    handled.tellLeft(note, isPart: isPart, reason)
  }

  /// Whether a note submits files to a manifest that is not part of the run.
  private func isForeign(_ note: Note) -> Bool { note.manifest.map { !plan.manifests.contains($0) } ?? false }

  /// Whether a note is for one of the run's manifests, or for its whole session.
  private func concerns(_ note: Note) -> Bool { note.manifest.map(plan.manifests.contains) ?? true }

  /// The manifest of a note; `nil` if the note is for the whole session.
  private func manifest(of note: Note) -> ManifestID? {
    note.manifest.flatMap(plan.manifests.firstIndex).map(ManifestID.init)
  }

  /// Reconciles a note's submitted files with the journal.
  ///
  /// A file remains for the next launch if this launch already has another version of it, or if it failed or
  /// was canceled in this round.
  ///
  /// - Returns: the files that are new to this launch and that the journal does not record as delivered;
  ///   `isAll` is true if no other files of the note remain. `nil` while files are being read to determine
  ///   whether they changed.
  private func items(
    _ submitted: SubmittedFiles, of note: Note, _ ref: (node: Int, round: Int64), _ scheduler: Scheduler,
    _ launchState: inout LaunchState, wake: @escaping @Sendable () -> Void
  ) throws(JournalError) -> (ItemTable, isAll: Bool)? {
    let (id, session) = (NodeID(ref.node), plan.nodes[ref.node].session.index)
    guard case .upload(let work) = plan.nodes[ref.node].work, let row = launchState.rows[ref.node],
      let journal = journals.all[session]
    else { return (ItemTable(), true) }
    let postponed = try submitted.postponed(by: scheduler, journal, id, row)
    var submitted = submitted
    try submitted.leaveOutTaken(by: journal, node: row, at: scheduler.now)
    let unknown = scheduler.unknown(submitted.columns, to: id)
    let files = ref.node < ownNodes ? unknown : try withoutOpen(unknown, journal, row)
    var answers: [ContentComparison] = []
    if work.comparesContent {
      let questions = try journal.contentQuestions(about: files, of: row)
      // The folder was listed, so its root is open.
      guard let root = try? listers[ref.node]?.folder(),
        let compared = contents.answers(note: note.id, questions, of: files, root: root, wake: wake)
      else { return nil }
      answers = compared
    }
    let reconciliation = try journal.reconcile(
      files, of: row, deliver: work.deliver, contents: answers, round: ref.round, submitted: submitted,
      at: scheduler.now, nextRow: &launchState.nextRows[session])
    launchState.expect(submitted, of: id, among: reconciliation.items.files)
    let settled = reconciliation.settled
    let isLeft = settled.failedInRound + settled.cancelledInRound > 0 || files.count < unknown.count
    if !postponed.paths.isEmpty, postponed.isUndecided(note) { handled.addUndecided(note.id) }
    return (
      reconciliation.items,
      isAll: !isLeft && postponed.paths.isEmpty && !scheduler.hasOutdated(submitted.columns, of: id)
    )
  }
}

extension InboxProcessor {
  /// Returns the next event for the scheduler, or the next manifest that joins the run.
  ///
  /// - Parameter wake: called on another thread if there is more news without another note.
  func news(
    _ scheduler: Scheduler, _ launchState: inout LaunchState, _ joining: JoiningManifests,
    wake: @escaping @Sendable () -> Void
  ) throws(JournalError) -> InboxNews? {
    while let news = try next(scheduler, &launchState, rounds: joining.rounds, wake: wake) {
      switch news {
      case .event(let event): return .event(event)
      case .foreign(let note, let session):
        do {
          let (manifest, listers) = try joining.join(for: note, &launchState)
          join(manifest.plan, listers: listers, for: note, of: session)
          return .joining(manifest)
        } catch let error as JournalError {
          throw error
        } catch {
          tellLeft(note, (error as? JoiningManifests.Refusal)?.reason ?? "\(error)")
        }
      }
    }
    return nil
  }

  /// Returns the files of a manifest that has joined, except those that an earlier run queued and did not complete. The
  /// manifest's next run resumes the excluded files with the state in the journal.
  private func withoutOpen(
    _ files: FileColumns, _ journal: SessionJournal, _ row: NodeRow
  ) throws(JournalError) -> FileColumns {
    var open: Set<[UInt8]> = []
    try journal.forEachItem(node: row.id, of: files) { item, path throws(JournalError) in
      if !(try item.state).isClosed { open.insert(path) }
    }
    guard !open.isEmpty else { return files }
    var rest = FileColumns()
    for file in 0..<files.count where !open.contains(Array(files.path(file))) { rest.append(file, of: files) }
    return rest
  }
}

extension Note {
  /// Whether a cancellation drops the note, because the note submitted files before the cancellation.
  fileprivate func isDropped(by cancel: Note) -> Bool {
    kind == .submit && session == cancel.session && id < cancel.id
      && (cancel.manifest == nil || cancel.manifest == manifest)
  }
}

extension SessionJournal {
  /// Calls `body` with the journal's item for each file and the file's path. Each path is looked up
  /// separately, so the number of files should be small.
  func forEachItem(
    node: Int64, of files: FileColumns,
    _ body: (borrowing ItemRow, [UInt8]) throws(JournalError) -> Void
  ) throws(JournalError) {
    for index in 0..<files.count {
      let path = Array(files.path(index))
      try meet(node: node, path: path) { item throws(JournalError) in try body(item, path) }
    }
  }
}

extension Plan {
  /// The upload of a note.
  func upload(of note: Note) -> Int? {
    nodes.firstIndex {
      $0.kind == .upload && $0.name == note.node && manifests[$0.manifest.index] == note.manifest
        && sessions[$0.session.index].identifier == note.session
    }
  }
}
