import FerryJournal
import FerryPlan

/// The journals of the sessions that a plan's nodes live in.
struct SessionJournals {
  /// In the order of `SessionID`; `nil` where no node lives in that session.
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

  /// For a plan: nothing is changed.
  static func openForReading(
    _ plan: Plan, in state: StateDirectory, known: Set<String>
  ) throws(JournalError) -> SessionJournals {
    try Self(plan) { identifier throws(JournalError) in
      let journal = try SessionJournal.openForReading(session: identifier, in: state, known: known)
      // What stops a run stops its plan.
      try journal.checkContent()
      return journal
    }
  }

  private init(_ plan: Plan, _ open: (String) throws(JournalError) -> SessionJournal) throws(JournalError) {
    let homes = Set(Launch.homes(of: plan))
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

  /// The identifiers of the sessions whose journals are kept.
  var kept: [String] { all.compactMap(\.self).filter(\.isDurable).map(\.identifier) }

  /// How far the sessions' resume delays have grown.
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

  /// Sessions that are owed the start of their `on_events`.
  var owedEvents: [SessionID] {
    get throws(JournalError) {
      var owed: [SessionID] = []
      for (index, journal) in all.enumerated() {
        if try journal?.recorded.hasPendingEvents == true { owed.append(SessionID(index)) }
      }
      return owed
    }
  }

  /// By upload of the plan: its rows, one for each server that its files have gone to.
  func uploadRows(of plan: Plan) throws(JournalError) -> [Int: [NodeRow]] {
    var rows: [Int: [NodeRow]] = [:]
    for (session, journal) in all.enumerated() {
      guard let journal else { continue }
      var uploads: [[String]: Int] = [:]
      for (index, node) in plan.nodes.enumerated()
      where node.kind == .upload && node.session.index == session {
        uploads[[plan.manifests[node.manifest.index], node.name]] = index
      }
      for row in try journal.nodes where row.kind == .upload {
        if let index = uploads[[row.manifest, row.name]] { rows[index, default: []].append(row) }
      }
    }
    return rows
  }

  /// The last round of a manifest that they name; 0 where there is none.
  func lastRound(of manifest: String) throws(JournalError) -> Int64 {
    var last: Int64 = 0
    for journal in all { last = max(last, try journal?.lastRound(of: manifest) ?? 0) }
    return last
  }

  func close() {
    // What was to be kept is synced by the writer; closing late loses nothing.
    for journal in all { try? journal?.close() }
  }
}
