import FerryJournal
import FerryPlan

/// What others ask of the run's sessions: files of `ferry submit`, and `ferry cancel`.
///
/// A note is removed once what it asks for is in a journal; one that this run could not take stays for the next.
final class Intake {
  private let plan: Plan
  private let journals: SessionJournals
  private let inbox: Inbox
  private let listers: [Int: FileLister]
  private let notice: (String) -> Void
  private var seen: Set<Int64> = []
  /// Sessions that a force quit has ended while this run had them.
  private(set) var cancelled: Set<Int> = []
  /// Of notes that were taken: what has to be handed over before each is removed.
  private var taken: [(id: Int64, node: Int?)] = []
  private let contents = SubmittedContents()

  init(
    _ plan: Plan, journals: SessionJournals, inbox: Inbox, listers: [Int: FileLister],
    notice: @escaping (String) -> Void
  ) {
    self.plan = plan
    self.journals = journals
    self.inbox = inbox
    self.listers = listers
    self.notice = notice
  }

  /// Before the journals are read: cancels what earlier runs left open and did not live to cancel, and returns the
  /// files that were submitted, by node.
  func begin(at now: Instant) throws -> [Int: Listing] {
    var paths: [Int: [[UInt8]]] = [:]
    for (session, journal) in journals.all.enumerated() {
      guard let journal else { continue }
      for note in try inbox.notes(session: plan.sessions[session].identifier) {
        switch note.kind {
        case .cancel, .finish:
          guard concerns(note) else { continue }
          seen.insert(note.id)
          let count = try journal.cancelOpen(
            manifest: note.manifest, reason: .cancelled, at: now)
          notice("\(count) items of the session \(journal.identifier) were cancelled by ferry cancel")
          taken.append((note.id, nil))
        case .submit:
          guard let node = node(of: note) else { continue }
          seen.insert(note.id)
          paths[node, default: []] += note.paths
          taken.append((note.id, node))
        }
      }
    }
    var listings: [Int: Listing] = [:]
    for (node, paths) in paths { listings[node] = try listers[node]?.named(paths) }
    return listings
  }

  /// What has come since, as events for the scheduler.
  ///
  /// - Parameter wake: called on another thread where there is more news without another note.
  func news(
    _ scheduler: Scheduler, _ situation: inout Situation, rounds: [Int64],
    wake: @escaping @Sendable () -> Void
  ) throws -> [Event] {
    var events: [Event] = []
    for (index, journal) in journals.all.enumerated() {
      guard let journal else { continue }
      for note in try inbox.notes(session: journal.identifier) where seen.insert(note.id).inserted {
        switch note.kind {
        case .cancel, .finish:
          guard concerns(note), !scheduler.isEnding else { continue }
          events.append(
            .cancelled(SessionID(index), of: manifest(of: note), finishing: note.kind == .finish))
          if note.kind == .cancel, manifest(of: note) == nil || plan.manifests.count == 1 {
            cancelled.insert(index)
          }
          taken.append((note.id, nil))
        case .submit:
          guard let node = node(of: note), scheduler.takesItems(NodeID(node)) else { continue }
          guard let items = try items(note, node, scheduler, &situation, rounds: rounds, wake: wake) else {
            seen.remove(note.id)
            continue
          }
          if items.count > 0 { events.append(.submitted(NodeID(node), items)) }
          taken.append((note.id, node))
        }
      }
    }
    return events
  }

  /// After everything that the run wrote is on disk.
  func finish(_ scheduler: Scheduler) throws(JournalError) {
    contents.stop()
    let done = taken.filter { taken in
      taken.node.map { scheduler.hasHandedOver(NodeID($0)) } ?? true
    }
    try inbox.remove(done.map(\.id))
  }

  /// Whether a note is for one of the manifests, or for whatever the session carries.
  private func concerns(_ note: Note) -> Bool { note.manifest.map(plan.manifests.contains) ?? true }

  /// The manifest that a note is for; `nil` for all of the session.
  private func manifest(of note: Note) -> ManifestID? {
    note.manifest.flatMap(plan.manifests.firstIndex).map(ManifestID.init)
  }

  private func node(of note: Note) -> Int? {
    plan.nodes.firstIndex {
      $0.kind == .upload && $0.name == note.node && plan.manifests[$0.manifest.index] == note.manifest
    }
  }

  /// Of submitted files those that this launch does not know yet and the journal does not say to be delivered;
  /// `nil` while some of them are read to tell.
  private func items(
    _ note: Note, _ node: Int, _ scheduler: Scheduler, _ situation: inout Situation, rounds: [Int64],
    wake: @escaping @Sendable () -> Void
  ) throws -> ItemTable? {
    guard let lister = listers[node], case .upload(let work) = plan.nodes[node].work,
      let row = situation.rows[node]
    else { return ItemTable() }
    var listing = try lister.named(note.paths)
    listing.files = scheduler.unknown(listing.files, to: NodeID(node))
    let session = plan.nodes[node].session.index
    var answers: [ContentAnswer] = []
    if work.comparesContent {
      var questions = ContentQuestions(listing: listing.files)
      try forEachItem(of: listing, node: row.id, in: journals.all[session]) { item, path in
        questions.meet(try item.known, delivered: item.digest, path: path)
      }
      guard
        let told = contents.answers(
          note: note.id, questions, of: listing.files, root: lister.root, wake: wake)
      else { return nil }
      answers = told
    }
    for problem in listing.problems { notice("\(plan.title(of: NodeID(node))): \(problem)") }
    var reconciliation = Reconciliation(
      listing: listing.files, deliver: work.deliver, contents: answers,
      round: rounds[plan.nodes[node].manifest.index], nextRow: situation.nextRows[session])
    try forEachItem(of: listing, node: row.id, in: journals.all[session]) { item, path in
      reconciliation.meet(try item.known, path: path)
    }
    reconciliation.finish()
    situation.nextRows[session] = reconciliation.nextRow
    return reconciliation.items
  }

  /// Calls `body` with each item of the listing that the journal has, by path.
  private func forEachItem(
    of listing: Listing, node: Int64, in journal: SessionJournal?,
    _ body: (borrowing ItemRow, [UInt8]) throws -> Void
  ) throws {
    for index in 0..<listing.files.count {
      let path = Array(listing.files.path(index))
      try journal?.item(node: node, path: path) { try body($0, path) }
    }
  }
}

extension ItemRow {
  /// As the reconciliation meets it.
  var known: Reconciliation.Known {
    get throws {
      let state = try state
      // Of what has ended, most of a million, these are not asked.
      guard !state.isClosed else {
        return Reconciliation.Known(
          row: id, round: round, state: state, size: size, modified: modified,
          owesAfter: try after == .owed)
      }
      return Reconciliation.Known(
        row: id, round: round, state: state, intent: try intent, size: size, modified: modified,
        handedOver: handedOver, expires: expires, owesAfter: try after == .owed)
    }
  }
}
