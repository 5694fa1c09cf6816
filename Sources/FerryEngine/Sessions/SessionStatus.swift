import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport

/// `ferry status`: reads journals, notes and history without taking a lock.
package struct SessionStatus {
  private let state: StateDirectory
  private let options: RunPreview.Options
  private let environment: [String: String]

  /// - Parameter launch: the kind of launch for which the reasons to wait are determined.
  package init(
    state: String?, network: Conditions.Network?, power: Conditions.Power?, launch: LaunchKind,
    environment: [String: String]
  ) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    var options = RunPreview.Options()
    options.network = network
    options.power = power
    options.launch = launch
    options.moment = LaunchClock.wallTime
    // The status is queried often, so it reports only the number of files that would have to be read.
    options.readsContents = false
    self.options = options
    self.environment = environment
  }

  /// The reasons why a manifest's nodes are waiting.
  private struct Look {
    var entry: StatusDocument.ManifestEntry
    /// The manifest's last run, if the next run resumes it.
    var interruptedRun: InterruptedRun?
    /// The job; `nil` if the manifest cannot be read.
    var job: Job?
    var round: Int64 = 0
    /// The reasons, by node name.
    var reasons: [String: RecordedFailure] = [:]
    var toSend: [String: Int] = [:]
    var toCompare: [String: Int] = [:]
    var unlisted: [String: Int] = [:]
    var notBefore: [String: String] = [:]
    /// The nodes of the plan, by session identifier.
    var nodes: [String: [Node]] = [:]
  }

  /// Reads the status of the sessions from the state folder.
  ///
  /// - Parameters:
  ///   - sessions: identifiers; if empty, all known sessions.
  ///   - job: restricts the status to this job's sessions.
  package func look(sessions: [String], job: Job?) throws -> StatusDocument {
    let history = try RunHistory.openForReading(in: state)
    // The databases were only read, so closing them cannot lose data.
    defer { try? history.close() }
    let inbox = try Inbox.openForReading(in: state)
    defer { try? inbox.close() }
    let removed = Dictionary(try history.removedSessions().map { ($0.session, $0) }) { $1 }
    let catalog = SessionCatalog(state: state, inbox: inbox)
    try catalog.check(sessions.filter { removed[$0] == nil })
    var looks: [String: Look] = [:]
    var names = sessions
    if let job {
      looks[job.plan.manifest] = try look(at: job, history)
      names += job.plan.itemSessions.map { job.plan.sessions[$0.index] }
        .filter { $0.kind != .ephemeral }.map(\.identifier)
    } else if names.isEmpty {
      names = try catalog.identifiers + removed.keys
    }
    let entries = try Set(names).sorted().map { name in
      do {
        var entry = try entry(name, inbox, history, &looks)
        entry.removed = removed[name].map {
          .init(
            code: $0.failure.code, message: $0.failure.message, items: $0.items,
            removedAt: $0.removedAt.rfc3339)
        }
        return entry
      } catch let fault as JournalError {
        // The other sessions are still reported.
        return .init(identifier: name, nodes: [], eventsPending: false, notes: [], problem: fault.description)
      }
    }
    var status = StatusDocument(
      state: state.path, at: (options.moment ?? LaunchClock.wallTime).rfc3339, sessions: entries,
      manifests: looks.values.map(\.entry).sorted { $0.name < $1.name })
    status.runs = try progress(of: entries, history)
    return status
  }

  /// The progress of the runs that hold these sessions; `nil` if none has published its progress.
  private func progress(
    of sessions: [StatusDocument.SessionEntry], _ history: RunHistory
  ) throws(JournalError) -> [RunProgress]? {
    var runs: [RunProgress] = []
    for session in sessions where session.holder != nil {
      guard let run = try history.liveRun(of: Set(session.nodes.map(\.manifest))),
        run.process.pid == session.holder?.pid, !runs.contains(where: { $0.run == run.id })
      else { continue }
      if let progress = ProgressFile.read(ofRun: run.id, pid: run.process.pid, in: state) {
        runs.append(progress)
      }
    }
    return runs.isEmpty ? nil : runs
  }

  private func entry(
    _ session: String, _ inbox: Inbox, _ history: RunHistory, _ looks: inout [String: Look]
  ) throws -> StatusDocument.SessionEntry {
    let journal = try SessionJournal.openForReading(
      session: session, in: state, known: history.knownJournals(locked: Set(state.lockedSessions())))
    // The journal was only read, so closing it cannot lose data.
    defer { try? journal.close() }
    let notes = try inbox.notes(session: session)
    let rows = try journal.nodes
    for name in Set(rows.map(\.manifest) + notes.compactMap(\.manifest)) where looks[name] == nil {
      looks[name] = try look(atKnown: name, history)
    }
    let holder = try SessionLock.holder(session: session, in: state)
    var nodes = try Self.nodes(rows, journal, looks)
    try tellAmbiguous(&nodes, rows, journal, looks)
    // Add nodes that a manifest has in the session and that never started.
    for (name, look) in looks.sorted(by: { $0.key < $1.key }) {
      for node in look.nodes[session] ?? []
      where !nodes.contains(where: { $0.manifest == name && $0.name == node.name && $0.kind == node.kind }) {
        nodes.append(
          .init(
            manifest: name, name: node.name, kind: node.kind, round: look.round,
            items: node.kind.hasItems ? .init() : nil))
      }
    }
    for index in nodes.indices {
      let name = nodes[index].name
      // The reason that the last run recorded is used only if the current reasons cannot be determined.
      let recorded = nodes[index].reason
      nodes[index].reason = nil
      guard let look = looks[nodes[index].manifest] else { continue }
      nodes[index].items?.toSend = look.toSend[name]
      nodes[index].items?.toCompare = look.toCompare[name]
      nodes[index].items?.unlisted = look.unlisted[name]
      nodes[index].notBefore = look.notBefore[name]
      if holder == nil {
        nodes[index].reason = look.reasons[name] ?? (look.entry.problem == nil ? nil : recorded)
      }
    }
    let recorded = try journal.recorded
    let now = options.moment ?? LaunchClock.wallTime
    let windowEnd =
      holder == nil ? nil : try windowEnd(session, Set(nodes.map(\.manifest)), recorded, looks, history)
    return .init(
      identifier: session,
      holder: holder.map { .init(pid: $0.pid, since: $0.since?.rfc3339) },
      interruptedRun: holder != nil
        ? nil : Set(nodes.map(\.manifest)).sorted().compactMap { looks[$0]?.interruptedRun }.first,
      window: windowEnd.map {
        .init(endsAt: $0.rfc3339, remainingSeconds: max(0, now.duration(to: $0).seconds.rounded(.down)))
      },
      nodes: nodes,
      delay: recorded.delay.map {
        .init(
          periodSeconds: $0.period.seconds, resumedAt: $0.resumedAt.rfc3339,
          endsAt: $0.resumedAt.advanced(by: $0.period).rfc3339)
      },
      eventsPending: recorded.hasPendingEvents, notes: notes.map(Self.entry))
  }

  /// The end of the execution window of the run that holds a session; `nil` if the run has no window. The window of a
  /// foreground launch opens with a hangup, which is not recorded.
  private func windowEnd(
    _ session: String, _ manifests: Set<String>, _ recorded: RecordedSession, _ looks: [String: Look],
    _ history: RunHistory
  ) throws(JournalError) -> Instant? {
    guard let run = try history.liveRun(of: manifests),
      let job = run.rounds.lazy.compactMap({ looks[$0.manifest]?.job }).first
    else { return nil }
    let window = job.plan.policies.executionWindow
    guard let length = window.length(of: run.launch) else { return nil }
    let end = run.startedAt.advanced(by: length)
    guard let resumedAt = recorded.delay?.resumedAt, resumedAt >= run.startedAt else { return end }
    return window.end(end, afterResumeAt: resumedAt)
  }

  private static func nodes(
    _ rows: [NodeRow], _ journal: SessionJournal, _ looks: [String: Look]
  ) throws(JournalError) -> [StatusDocument.NodeEntry] {
    let counts = Dictionary(grouping: try journal.countsByRound(), by: \.node)
    let owed = try journal.owedCounts()
    let orphans = try journal.orphanCounts()
    let cancelled = try journal.cancelledItems()
    return rows.compactMap { row in
      let round = looks[row.manifest]?.round ?? row.round
      var entry = StatusDocument.NodeEntry(
        manifest: row.manifest, name: row.name, kind: Node.Kind(row.kind), origin: row.origin, round: round)
      switch row.kind {
      case .upload, .download:
        var items = StatusDocument.Items(counts[row.id] ?? [], round: round)
        items.owedAfter = owed[row.id]
        entry.items = items
        entry.reason = row.failure
        entry.cancellations = cancelled.records(node: row.id, round: round)
        entry.orphans = orphans[row.id]
      case .fetch, .request:
        if row.round == round, row.state.isClosed { entry.state = ReportState(row.state) }
      }
      // A node that is no longer in the manifest is omitted unless it has items or orphans, or may have been executed.
      let isPresent = looks[row.manifest]?.nodes[journal.identifier]?.contains { $0.name == row.name } ?? true
      let isInDoubt = row.isInDoubt && (row.round == round || row.state == .ambiguous)
      return isPresent || counts[row.id] != nil || orphans[row.id] != nil || isInDoubt ? entry : nil
    }
  }

  /// Adds the work that the user must resolve.
  private func tellAmbiguous(
    _ nodes: inout [StatusDocument.NodeEntry], _ rows: [NodeRow], _ journal: SessionJournal,
    _ looks: [String: Look]
  ) throws {
    for index in nodes.indices {
      let entry = nodes[index]
      guard
        let row = rows.first(where: {
          $0.manifest == entry.manifest && $0.name == entry.name && $0.origin == entry.origin
        })
      else { continue }
      let node = looks[row.manifest]?.job?.plan.nodes.first { $0.name == row.name && $0.kind == entry.kind }
      let finder = AmbiguityFinder(session: journal.identifier, state: state, row: row, node: node)
      if !row.kind.hasItems {
        guard row.state == .ambiguous else { continue }
        nodes[index].ambiguous = [.init(ambiguity: finder.ambiguity)]
      } else if entry.items?.ambiguous ?? 0 > 0 {
        nodes[index].ambiguous = try journal.ambiguousItems(node: row.id).prefix(100).map {
          .init(
            path: String(decoding: $0.path, as: UTF8.self), pathBase64: DisplayPath.base64($0.path),
            ambiguity: finder.ambiguity(of: $0))
        }
      }
    }
  }

  private static func entry(_ note: Note) -> StatusDocument.NoteEntry {
    .init(
      id: note.id, kind: note.kind.rawValue, manifest: note.manifest, node: note.node,
      files: note.files.count,
      paths: note.files.prefix(100).map { String(decoding: $0.path, as: UTF8.self) },
      reason: note.reason?.text,
      createdAt: note.createdAt.rfc3339)
  }

  private func look(atKnown manifest: String, _ history: RunHistory) throws -> Look {
    func unreadable(_ problem: String) throws -> Look {
      var entry = try Self.entry(manifest, history)
      entry.problem = problem
      return Look(
        entry: entry, interruptedRun: try history.interrupted(manifest, in: state), round: entry.round ?? 0)
    }
    switch try KnownJobs(history: history, environment: environment).find(manifest) {
    case .job(let job):
      do {
        return try look(at: job, history)
      } catch let error as UsageError {
        return try unreadable(error.description)
      }
    case .unreadable(let problem): return try unreadable(problem)
    }
  }

  private func look(at job: Job, _ history: RunHistory) throws -> Look {
    let job = try job.divided(in: state)
    let entry = try Self.entry(job.plan.manifest, history)
    var look = Look(
      entry: entry, interruptedRun: try history.interrupted(job.plan.manifest, in: state), job: job,
      round: entry.round ?? 0)
    look.entry.path = entry.path ?? job.path
    for node in job.plan.nodes where node.kind != .token {
      look.nodes[job.plan.sessions[node.session.index].identifier, default: []].append(node)
    }
    do {
      try RunPreview.take(job, options, in: state, environment: environment) { preview in
        look.entry.conditions = preview.conditions
        look.entry.budgets = preview.budgets
        for (index, reason) in preview.look.reasons { look.reasons[job.plan.nodes[index].name] = reason }
        for (index, start) in preview.launchState.starts.enumerated() {
          let name = job.plan.nodes[index].name
          if case .upload(let table, let settled) = start {
            look.toSend[name] = table.count
            if settled.unread > 0 { look.toCompare[name] = settled.unread }
            if settled.unlisted > 0 { look.unlisted[name] = settled.unlisted }
          }
          if case .notDue(let until, let failed) = start {
            look.notBefore[name] = until.rfc3339
            look.reasons[name] = failed?.reason
          }
        }
      }
    } catch let failure as ListingFailure {
      look.entry.problem = EngineFault.describe(failure)
    } catch let fault as JournalError {
      look.entry.problem = fault.description
    }
    return look
  }

  private static func entry(
    _ manifest: String, _ history: RunHistory
  ) throws(JournalError) -> StatusDocument.ManifestEntry {
    let round = try history.latestRound(manifest: manifest)
    return .init(
      name: manifest, path: try history.job(manifest: manifest)?.path, round: round?.number,
      roundOpenedAt: round?.openedAt.rfc3339, roundClosedAt: round?.closedAt?.rfc3339)
  }
}

extension StatusDocument.Items {
  /// The counts of an upload's items in a journal, relative to a round.
  init(_ counts: [SessionJournal.RoundCount], round: Int64) {
    self.init()
    for count in counts {
      if count.round == round {
        self.count(count.state, count.count)
      } else if count.state == .done {
        doneBefore += count.count
      } else if count.state == .ambiguous {
        // An item stays ambiguous across rounds.
        ambiguous += count.count
      }
    }
  }
}

extension Node.Kind {
  init(_ kind: NodeRow.Kind) {
    switch kind {
    case .upload: self = .upload
    case .download: self = .download
    case .fetch: self = .fetch
    case .request: self = .request
    }
  }
}

extension RunHistory {
  /// The last run of a manifest, if it was interrupted and the next one resumes it.
  func interrupted(_ manifest: String, in state: StateDirectory) throws(JournalError) -> InterruptedRun? {
    guard let run = try interruptedRun(of: manifest, in: state) else { return nil }
    return InterruptedRun(
      run: run.id, pid: run.process.pid, startedAt: run.startedAt,
      resume: try ResumeCommand.line(of: run, self, in: state))
  }
}
