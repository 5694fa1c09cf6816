import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// `ferry orphans`: lists the upload IDs that servers allocated and that will not be used, and removes IDs from the
/// list.
package struct SessionOrphans {
  /// The orphans to remove from the list.
  package enum Forgotten: Sendable {
    case all
    /// The numbers of the orphans within the session.
    case some([Int64])
  }

  package enum Ending: Sendable {
    /// The number of orphans removed from the list.
    case forgotten(Int)
    /// Another process holds the session; nothing was removed.
    case inUse(SessionInUse)
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// Lists the orphans in journals, without taking a lock.
  ///
  /// - Parameter sessions: identifiers; if empty, all sessions that have a journal.
  /// - Throws: `UsageError` if one of the sessions is unknown.
  package func look(sessions: [String]) throws -> OrphansDocument {
    try check(sessions)
    let history = try RunHistory.openForReading(in: state)
    // The history was only read, so closing it cannot lose data.
    defer { try? history.close() }
    let registered = try history.knownJournals(locked: Set(state.lockedSessions()))
    let known = try registered.union(state.sessions())
    let names = sessions.isEmpty ? known : known.intersection(sessions)
    var jobs: [String: KnownJobs.Found] = [:]
    var document = OrphansDocument(state: state.path, at: LaunchClock.wallTime.rfc3339, orphans: [])
    for session in names.sorted() {
      do {
        document.orphans += try look(into: session, history, registered, &jobs)
      } catch let fault as JournalError {
        // The other sessions are still reported.
        document.problems = (document.problems ?? []) + [.init(session: session, problem: fault.description)]
      }
    }
    return document
  }

  private func look(
    into session: String, _ history: RunHistory, _ registered: Set<String>,
    _ jobs: inout [String: KnownJobs.Found]
  ) throws -> [OrphansDocument.Entry] {
    let journal = try SessionJournal.openForReading(session: session, in: state, known: registered)
    // The journal was only read, so closing it cannot lose data.
    defer { try? journal.close() }
    let orphans = try journal.orphans
    guard !orphans.isEmpty else { return [] }
    // A damaged table may contain an ID twice.
    let nodes = Dictionary(try journal.nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return try orphans.compactMap { orphan in
      guard let node = nodes[orphan.node] else { return nil }
      let job =
        try jobs[node.manifest] ?? KnownJobs(history: history, environment: environment).find(node.manifest)
      jobs[node.manifest] = job
      return Self.entry(orphan, of: node, in: session, hindrance: Self.hindrance(orphan, node, session, job))
    }
  }

  /// Removes orphans from the list. The change is on disk when this method returns.
  ///
  /// - Throws: `UsageError` if the session or one of the orphans does not exist; in that case, nothing is
  ///   removed.
  package func forget(_ forgotten: Forgotten, in session: String, patience: LockPatience) throws -> Ending {
    try check([session])
    let isMissing = try state.presence(ofSession: session) == .missing
    if try isMissing && !RunHistory.knownJournals(in: state).contains(session) { return .forgotten(0) }
    let locks: [SessionLock]
    switch try SessionLocks.take([session], in: state, patience: patience, now: { LaunchClock.wallTime }) {
    case .locked(let all): locks = all
    case .inUse(let holder): return .inUse(holder)
    }
    defer { for lock in locks { lock.release() } }
    let found = try SessionJournal.openExisting(
      session: session, in: state, known: RunHistory.knownJournals(in: state), writtenBy: version,
      at: LaunchClock.wallTime)
    guard let journal = found else { return .forgotten(0) }
    defer { try? journal.close() }  // Every removal is already synced.
    switch forgotten {
    case .all: return .forgotten(try journal.forgetOrphans(nil))
    case .some(let ids):
      let known = Set(try journal.orphans.map(\.id))
      if let unknown = ids.first(where: { !known.contains($0) }) {
        throw UsageError(
          "session '\(session)' does not have an orphan \(unknown); nothing was removed\n"
            + "help: list the orphans with: \(state.command(["orphans", session]))")
      }
      return .forgotten(try journal.forgetOrphans(ids))
    }
  }

  private func check(_ sessions: [String]) throws {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    try SessionCatalog(state: state, inbox: inbox).check(sessions)
  }

  /// The reason why the manifest's next run does not release the orphan; `nil` if that run releases the
  /// orphan.
  private static func hindrance(
    _ orphan: OrphanRow, _ row: NodeRow, _ session: String, _ found: KnownJobs.Found
  ) -> String? {
    if orphan.orphaning.isInDoubt { return "the server may have used the ID; check the server" }
    let plan: Plan
    switch found {
    case .job(let job): plan = job.plan
    case .unreadable(let why): return why
    }
    let node = plan.nodes.first { node in
      node.name == row.name && node.kind == .upload
        && plan.sessions[node.session.index].identifier == session
    }
    guard let node, case .upload(let work) = node.work else {
      return "the manifest does not have upload '\(row.name)' in this session"
    }
    let origin = work.first.origin?.description ?? ""
    guard origin == row.origin else {
      return "upload '\(row.name)' now goes to a different server: \(origin)"
    }
    guard let abandon = work.abandon else { return "upload '\(row.name)' has no 'abandon'" }
    if let lacked = abandon.lackedCapture(of: orphan) {
      return "'abandon' needs \(lacked), which was not captured with this upload ID"
    }
    guard orphan.failure?.code == FailureCode(TransportFailure.Code.otherServer) else { return nil }
    return "upload '\(row.name)' went to a different server in the last run"
  }

  private static func entry(
    _ orphan: OrphanRow, of node: NodeRow, in session: String, hindrance: String?
  ) -> OrphansDocument.Entry {
    let values = ItemValues(orphan)
    let captures = values.allocate + values.transfer
    let secrets = captures.filter(\.isSecret).map(\.name)
    return .init(
      session: session, id: orphan.id, manifest: node.manifest, upload: node.name,
      origin: node.server ?? values.servers?.shown(.abandon) ?? "",
      path: String(decoding: orphan.path, as: UTF8.self), pathBase64: DisplayPath.base64(orphan.path),
      captures: Dictionary(captures.filter { !$0.isSecret }.map { ($0.name, $0.shown) }) { $1 },
      secrets: secrets.isEmpty ? nil : secrets, handedOverAt: orphan.handedOver.rfc3339,
      droppedAt: orphan.droppedAt.rfc3339, expiresAt: orphan.expires?.rfc3339,
      reason: orphan.orphaning.reason.word, isInDoubt: orphan.orphaning.isInDoubt,
      isReleasedByNextRun: hindrance == nil, hindrance: hindrance, triedAt: orphan.triedAt?.rfc3339,
      failure: orphan.failure)
  }
}
