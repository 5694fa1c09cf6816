import FerryJournal
import FerryPlan

/// The journals of the sessions to which a plan's nodes belong.
struct SessionJournals {
  /// The journals, in the order of `SessionID`; `nil` for a session without nodes.
  let all: [SessionJournal?]

  init(_ all: [SessionJournal?]) { self.all = all }

  static func open(
    _ plan: Plan, in state: StateDirectory, known: Set<String>, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> SessionJournals {
    try Self(plan) { identifier throws(JournalError) in
      let journal = try SessionJournal.open(
        session: identifier, in: state, known: known, writtenBy: ferry, at: now)
      try journal.checkRows()
      return journal
    }
  }

  /// Opens the journals for a plan without changing them.
  static func openForReading(
    _ plan: Plan, in state: StateDirectory, known: Set<String>
  ) throws(JournalError) -> SessionJournals {
    try Self(plan) { identifier throws(JournalError) in
      let journal = try SessionJournal.openForReading(session: identifier, in: state, known: known)
      // A damaged journal that would stop a run must also stop a preview of the run.
      try journal.checkContent()
      return journal
    }
  }

  private init(_ plan: Plan, _ open: (String) throws(JournalError) -> SessionJournal) throws(JournalError) {
    let homes = Set(plan.itemSessions)
    var journals: [SessionJournal?] = []
    for (index, session) in plan.sessions.enumerated() {
      guard homes.contains(SessionID(index)) else {
        journals.append(nil)
        continue
      }
      journals.append(
        session.kind == .ephemeral
          ? try .ephemeral(session: session.identifier) : try open(session.identifier))
    }
    all = journals
  }

  /// The identifiers of the sessions with durable journals.
  var kept: [String] { all.compactMap(\.self).filter(\.isDurable).map(\.identifier) }

  /// The current resume delays of the sessions.
  var delays: [SessionID: ResumeState] {
    get throws(JournalError) {
      var delays: [SessionID: ResumeState] = [:]
      for (index, journal) in all.enumerated() {
        guard let delay = try journal?.recorded.delay else { continue }
        delays[SessionID(index)] = ResumeState(period: delay.period, resumedAt: delay.resumedAt)
      }
      return delays
    }
  }

  /// For each session, the time up to which queued work is not inferred to be discretionary.
  var foreground: [SessionID: Instant] {
    get throws(JournalError) {
      var times: [SessionID: Instant] = [:]
      for (index, journal) in all.enumerated() {
        times[SessionID(index)] = try journal?.recorded.foregroundAt
      }
      return times
    }
  }

  /// Sessions whose `on_events` still has to be started.
  var owedEvents: [SessionID] {
    get throws(JournalError) {
      var owed: [SessionID] = []
      for (index, journal) in all.enumerated() {
        if try journal?.recorded.hasPendingEvents == true { owed.append(SessionID(index)) }
      }
      return owed
    }
  }

  /// The row of a request or fetch; `nil` if a journal that was opened for reading has none. A writable journal adds it.
  func row(of node: Node, in plan: Plan) throws(JournalError) -> NodeRow? {
    guard let identity = node.rowIdentity, !identity.kind.hasItems else { return nil }
    let row = try all[node.session.index]?.node(
      manifest: plan.manifests[node.manifest.index], name: node.name, kind: identity.kind,
      origin: identity.origin)
    return row?.id == 0 ? nil : row
  }

  /// The rows of each upload in the plan. There is one row for each server to which its files were sent.
  func uploadRows(of plan: Plan) throws(JournalError) -> [Int: [NodeRow]] {
    var rows: [Int: [NodeRow]] = [:]
    for (session, journal) in all.enumerated() {
      guard let journal else { continue }
      var uploads: [[String]: Int] = [:]
      for (index, node) in plan.nodes.enumerated()
      where node.kind.hasItems && node.session.index == session {
        uploads[[plan.manifests[node.manifest.index], node.name]] = index
      }
      for row in try journal.nodes where row.kind.hasItems {
        if let index = uploads[[row.manifest, row.name]] { rows[index, default: []].append(row) }
      }
    }
    return rows
  }

  /// The last round of a manifest in these journals, or 0.
  func lastRound(of manifest: String) throws(JournalError) -> Int64 {
    var last: Int64 = 0
    for journal in all { last = max(last, try journal?.lastRound(of: manifest) ?? 0) }
    return last
  }

  func close() {
    // The writer has already synced everything that must be kept, so an error here does not lose data.
    for journal in all { try? journal?.close() }
  }
}
