import FerryJournal
import FerryPlan

/// The notes that a run has handled, with their files. At the end of the run, notes whose files were all queued are
/// removed, and the others keep the files that remain for the next run.
struct HandledNotes {
  private let inbox: Inbox
  private let notice: (String) -> Void
  /// The notes to remove. If `node` is set, a note is removed only after that node's items were queued.
  private var complete: [(id: Int64, node: Int?)] = []
  /// The files that were submitted before the run, with their notes, by node.
  private var submittedBefore: [Int: (files: SubmittedFiles, notes: [Note])] = [:]
  /// Notes of which this run has queued only some of the files, with these files, by their indices.
  private var partial: [(note: Note, node: Int, files: FileColumns)] = []
  /// Notes that wait for a decision of the user about other versions of their files.
  private var undecided: Set<Int64> = []

  /// - Parameter notice: prints a message to the user.
  init(_ inbox: Inbox, _ notice: @escaping (String) -> Void) {
    self.inbox = inbox
    self.notice = notice
  }

  mutating func add(_ note: Int64, queuedBy node: Int? = nil) { complete.append((note, node)) }

  /// Adds the notes of the files that were submitted to a node before the run.
  mutating func add(_ notes: [Note], of files: SubmittedFiles, queuedBy node: Int) {
    complete += notes.map { ($0.id, node) }
    submittedBefore[node] = (files, notes)
  }

  /// Adds a note of which only some files could be queued.
  mutating func addPart(of note: Note, _ files: FileColumns, queuedBy node: Int) {
    partial.append((note, node, files))
  }

  mutating func addUndecided(_ note: Int64) { undecided.insert(note) }

  /// Whether a note waits for a decision of the user about other versions of its files.
  func isUndecided(_ note: Int64) -> Bool { undecided.contains(note) }

  /// Removes the notes from the inbox, except those with files that remain for the next run. Called after all writes of
  /// the run are on disk.
  ///
  /// - Parameters:
  ///   - interrupted: uploads whose files were not all read by the run. Their notes remain.
  ///   - rows: the rows of the nodes in the journals.
  mutating func remove(
    _ plan: Plan, _ scheduler: Scheduler, unless interrupted: Set<Int>, _ journals: SessionJournals,
    _ rows: [NodeRow?]
  ) throws(JournalError) {
    func isQueued(_ node: Int) -> Bool {
      !interrupted.contains(node) && scheduler.hasHandedOver(NodeID(node))
    }
    var done = Set(complete.filter { $0.node.map(isQueued) ?? true }.map(\.id))
    for (node, (files, notes)) in submittedBefore.sorted(by: { $0.key < $1.key }) {
      let journal = journals.all[plan.nodes[node].session.index]
      let postponed = try files.postponed(by: scheduler, journal, NodeID(node), rows[node])
      guard !postponed.paths.isEmpty else { continue }
      for note in notes where done.contains(note.id) {
        if try keep(note, postponed) { done.remove(note.id) }
      }
    }
    try inbox.remove(done)
    for (note, node, files) in partial where isQueued(node) {
      let queued = Set(
        (0..<files.count).filter { scheduler.hasQueued($0, of: files, by: NodeID(node)) }
          .map { Array(files.path($0)) })
      let remaining = note.files.indices.filter { !queued.contains(note.files[$0].path) }
      if remaining.isEmpty {
        try inbox.remove([note.id])
      } else if remaining.count < note.files.count {
        try inbox.keepOnly(remaining, of: note.id)
      }
    }
  }

  /// Keeps the postponed files of a note for a later run. Returns `false` if the note has none.
  private mutating func keep(
    _ note: Note, _ postponed: SubmittedFiles.Postponed
  ) throws(JournalError) -> Bool {
    let numbers = note.files.indices.filter { postponed.paths.contains(note.files[$0].path) }
    guard !numbers.isEmpty else { return false }
    try inbox.keepOnly(numbers, of: note.id)
    var left = note
    left.files = numbers.map { note.files[$0] }
    if postponed.isUndecided(left) {
      undecided.insert(note.id)
      notice(
        "\(title(of: note)): \(Count.text(numbers.count, "submitted file")) will be sent after you have decided about another "
          + "version that is ambiguous (ferry resolve)")
    } else {
      tellLeft(left, "another version was queued before")
    }
    return true
  }

  /// Reports that submitted files remain for the next run.
  func tellLeft(_ note: Note, isPart: Bool = false, _ reason: String? = nil) {
    let count =
      isPart ? "some of \(Count.text(note.files.count, "file"))" : Count.text(note.files.count, "file")
    notice(
      "\(title(of: note)): \(count) submitted to this run will be sent by the next run\(reason.map { ": \($0)" } ?? "")"
    )
  }

  private func title(of note: Note) -> String {
    [note.manifest, note.node].compactMap(\.self).joined(separator: "/")
  }
}
