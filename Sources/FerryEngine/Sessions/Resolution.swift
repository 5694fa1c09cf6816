import FerryJournal
import FerryPlan

/// `ferry resolve`: records the user's decisions about requests whose responses were lost.
package struct Resolution {
  package enum Scope: Sendable {
    /// All ambiguous work of a manifest in its sessions.
    case manifest(Job)
    /// All ambiguous work in the session with this identifier, for the manifest with this name or for all
    /// manifests.
    case session(String, manifest: String?)
  }

  /// The result for one item, request or fetch. The JSON keys are a stable public interface.
  package struct Resolved: Encodable, Sendable {
    package var session: String
    package var manifest: String
    package var node: String
    /// The path of an item, relative to `root`.
    package var path: String?
    /// The bytes of a path that is not UTF-8.
    package var pathBase64: String?
    package var decision: ResolveDecision
    /// The request with which the next run continues; absent if the item is done.
    package var next: Next?
  }

  /// The request with which the next run continues.
  package enum Next: String, Encodable, Sendable {
    case commit
    /// The first step of an item.
    case first
    case request
  }

  package enum Ending: Sendable {
    case resolved([Resolved])
    /// Another process holds this session; nothing was decided.
    case inUse(session: String, pid: Int32?)
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// Resolves all of the items, or none if a lock, a name or a journal prevents it. The decisions are on
  /// disk when this method returns.
  ///
  /// The decisions for each session are one transaction. If the disk fails between two sessions, the error
  /// lists the sessions whose decisions were saved.
  ///
  /// - Parameters:
  ///   - items: names as accepted by `ferry explain`; `nil` for all ambiguous items. If the scope is a session together
  ///     with a manifest, each name has exactly one meaning (`exactly`).
  ///   - origin: restricts the items to those sent to this server: scheme, host and port, or the server as recorded
  ///     in the journal, or `ResolveCommand.noOrigin`.
  /// - Throws: `UsageError` if one of the items is not ambiguous, or if a name has several meanings.
  package func resolve(
    _ items: [String]?, as decision: ResolveDecision, in scope: Scope, origin: String? = nil
  ) throws -> Ending {
    let now = LaunchClock.wallTime
    let sessions = try sessions(of: scope)
    var locks: [SessionLock] = []
    defer { for lock in locks { lock.release() } }
    for session in sessions {
      switch try SessionLock.try(session: session, in: state, at: now) {
      case .acquired(let lock): locks.append(lock)
      case .held(let pid, _): return .inUse(session: session, pid: pid)
      }
    }
    var journals: [SessionJournal] = []
    // Every decision is already synced.
    defer { for journal in journals { try? journal.close() } }
    for session in sessions {
      let journal = try SessionJournal.openExisting(
        session: session, in: state, known: RunHistory.knownJournals(in: state), writtenBy: version,
        at: now)
      if let journal { journals.append(journal) }
    }
    var found = try journals.flatMap { try ambiguous($0, scope) }
      .filter { origin.map($0.isAt) ?? true }
    if let items { found = try chosen(items, from: found, scope, decision) }
    let again = Set(found.filter { $0.next(after: decision) != nil }.map(\.node.manifest))
    let rounds = try rounds(of: again, journals, at: now)
    var finished: [String] = []
    for journal in journals {
      let own = found.filter { $0.session == journal.identifier }
      guard !own.isEmpty else { continue }
      do {
        try write(own, decision, rounds, to: journal, at: now)
      } catch {
        throw EngineFault.halfway(error, "decided", sessions: finished)
      }
      finished.append(journal.identifier)
    }
    let waiting = try manifestsWithSubmissions(found).subtracting(again)
    _ = try self.rounds(of: waiting, journals, at: now)
    return .resolved(found.map { $0.resolved(decision) })
  }

  /// An ambiguous item, request or fetch.
  private struct Found {
    var session: String
    var node: NodeRow
    /// The ambiguous item; `nil` for a request or a fetch.
    var item: SessionJournal.AmbiguousItem?

    func isAt(_ origin: String) -> Bool {
      let known = [node.origin, node.server ?? ResolveCommand.noOrigin]
      return known.contains { $0.utf8.elementsEqual(origin.utf8) }
    }

    func resolved(_ decision: ResolveDecision) -> Resolved {
      Resolved(
        session: session, manifest: node.manifest, node: node.name,
        path: item.map { String(decoding: $0.path, as: UTF8.self) },
        pathBase64: item.flatMap { DisplayPath.base64($0.path) }, decision: decision,
        next: next(after: decision))
    }

    /// The request with which the next run continues after a decision; `nil` if nothing remains to be sent.
    func next(after decision: ResolveDecision) -> Next? {
      switch (decision, item?.step) {
      case (.delivered, _): nil
      // Without a recorded counting point, an upload may have a commit. If it has none, the next run ends the item.
      case (.done, .transfer) where node.kind == .upload && node.countingPoint != .allocated: .commit
      case (.done, _): nil
      case (.retry, .commit), (.retry, .commitAgain), (.retry, .commitDeferred): .commit
      case (.retry, .allocate), (.retry, .transfer): .first
      case (.retry, nil): .request
      }
    }
  }

  private func sessions(of scope: Scope) throws -> [String] {
    // Include sessions whose journals are lost: opening such a journal reports the loss.
    let known = try Set(state.sessions()).union(RunHistory.knownJournals(in: state))
    switch scope {
    case .session(let name, _):
      let inbox = try Inbox.openForReading(in: state)
      // The inbox was only read, so closing it cannot lose data.
      defer { try? inbox.close() }
      try SessionCatalog(state: state, inbox: inbox).check([name])
      return known.contains(name) ? [name] : []
    case .manifest(let job):
      let own = job.plan.itemSessions.map { job.plan.sessions[$0.index] }.filter {
        $0.kind != .ephemeral
      }
      return Set(own.map(\.identifier)).intersection(known).sorted()
    }
  }

  private func ambiguous(_ journal: SessionJournal, _ scope: Scope) throws -> [Found] {
    try journal.nodes.flatMap { row -> [Found] in
      switch scope {
      case .manifest(let job): if row.manifest != job.plan.manifest { return [] }
      case .session(_, let manifest): if let manifest, row.manifest != manifest { return [] }
      }
      guard row.kind.hasItems else {
        return row.state == .ambiguous ? [Found(session: journal.identifier, node: row)] : []
      }
      return try journal.ambiguousItems(node: row.id).map {
        Found(session: journal.identifier, node: row, item: $0)
      }
    }
  }

  /// The items with the given names, without duplicates.
  private func chosen(
    _ items: [String], from found: [Found], _ scope: Scope, _ decision: ResolveDecision
  ) throws -> [Found] {
    var chosen = [Bool](repeating: false, count: found.count)
    // Indexed by node and path. A manifest may have the same upload on several servers, or in several
    // sessions.
    var places: [String: [[UInt8]: [Int]]] = [:]
    for (index, found) in found.enumerated() {
      places[found.node.name, default: [:]][found.item?.path ?? [], default: []].append(index)
    }
    for item in items {
      let meant = try meant(by: item, among: places, scope)
      guard !meant.isEmpty else { throw notAmbiguous(item, found) }
      let nodes = Set(meant.map { NodeKey(session: found[$0].session, node: found[$0].node.id) })
      guard nodes.count == 1 else { throw meansSeveral(item, meant.map { found[$0] }, decision) }
      for index in meant { chosen[index] = true }
    }
    return zip(found, chosen).filter(\.1).map(\.0)
  }

  /// Identifies a node's row.
  private struct NodeKey: Hashable {
    var session: String
    var node: Int64
  }

  /// The indices of the items that a name refers to. The name of a node refers to the whole node; otherwise
  /// the most likely path is used.
  private func meant(
    by item: String, among places: [String: [[UInt8]: [Int]]], _ scope: Scope
  ) throws -> [Int] {
    if case .session(_, .some) = scope { return exactly(item, among: places) }
    if let all = places[item] { return all.values.flatMap(\.self) }
    var best: (rank: Int, found: [Int])?
    for (node, paths) in places {
      for (rank, path) in try candidates(item, node, scope).enumerated() where rank <= best?.rank ?? rank {
        guard let path, let found = paths[path] else { continue }
        best = (rank, (best?.rank == rank ? best?.found ?? [] : []) + found)
      }
    }
    return best?.found ?? []
  }

  /// The indices of the items that a name in a printed command refers to. Such a name has exactly one meaning:
  /// `NODE/PATH`; `NODE/` for all items of an upload; `NODE` for a request or a fetch.
  private func exactly(_ item: String, among places: [String: [[UInt8]: [Int]]]) -> [Int] {
    guard let slash = item.utf8.firstIndex(of: UInt8(ascii: "/")) else { return places[item]?[[]] ?? [] }
    let paths = places[String(item[..<slash])] ?? [:]
    let path = Array(item.utf8[slash...].dropFirst())
    guard !path.isEmpty else { return paths.filter { !$0.key.isEmpty }.flatMap(\.value) }
    return paths[DisplayPath.read(path) ?? path] ?? []
  }

  /// The paths in an upload that a name may refer to, most likely first.
  private func candidates(_ item: String, _ node: String, _ scope: Scope) throws -> [[UInt8]?] {
    if case .manifest(let job) = scope, let known = job.plan.nodes.first(where: { $0.name == node }) {
      return try job.candidates(item, known, home: environment["HOME"])
    }
    return Job.relativeCandidates(item, node: node)
  }

  private func meansSeveral(_ item: String, _ found: [Found], _ decision: ResolveDecision) -> UsageError {
    var named: [NodeKey: ResolveCommand] = [:]
    for one in found {
      let place = NodeKey(session: one.session, node: one.node.id)
      // If a name refers to several items of a node, it refers to the whole node.
      let path = named[place] == nil ? one.item?.path : nil
      named[place] = ResolveCommand(session: one.session, row: one.node, path: path)
    }
    let lines = named.values.map { $0.line(decision, in: state) }.sorted()
    return UsageError(
      "\(DisplayPath.line(item).quoted) is ambiguous in several sessions or on several servers; nothing was decided\nhelp: decide about one of them with:\n"
        + lines.map { "  \(DisplayPath.line($0))" }.joined(separator: "\n"))
  }

  private func notAmbiguous(_ item: String, _ found: [Found]) -> UsageError {
    let names = found.prefix(10).map { found in
      found.item.map { "\(found.node.name)/\(DisplayPath.shown($0.path))" } ?? found.node.name
    }
    let more = found.count > names.count ? " and \(found.count - names.count) more" : ""
    let help =
      names.isEmpty
      ? "there are no ambiguous items" : "ambiguous items: \(names.joined(separator: ", "))\(more)"
    return UsageError("\(DisplayPath.line(item).quoted) is not ambiguous; nothing was decided\nhelp: \(help)")
  }

  /// Opens the round that the next run of each manifest will execute. The round must be open now, so that every item
  /// belongs to a round that is recorded in `ferry.db`.
  private func rounds(
    of manifests: Set<String>, _ journals: [SessionJournal], at now: Instant
  ) throws -> [String: Int64] {
    guard !manifests.isEmpty else { return [:] }
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Every write is already synced.
    var rounds: [String: Int64] = [:]
    for manifest in manifests {
      let used = try journals.map { try $0.lastRound(of: manifest) }.max() ?? 0
      rounds[manifest] = try history.openRound(manifest: manifest, used: used, at: now).number
    }
    return rounds
  }

  /// The manifests of which other versions of the files may have been submitted. They can now be sent.
  private func manifestsWithSubmissions(_ found: [Found]) throws -> Set<String> {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    var manifests: Set<String> = []
    for session in Set(found.map(\.session)) {
      for note in try inbox.notes(session: session) where note.kind == .submit {
        if let manifest = note.manifest { manifests.insert(manifest) }
      }
    }
    return manifests.intersection(found.map(\.node.manifest))
  }

  private func write(
    _ found: [Found], _ decision: ResolveDecision, _ rounds: [String: Int64], to journal: SessionJournal,
    at now: Instant
  ) throws {
    func decided(_ found: Found) -> SessionJournal.Decision {
      let round = rounds[found.node.manifest] ?? 1
      return switch decision {
      case .done where found.next(after: decision) != nil: .transferred(round: round)
      case .done, .delivered: .done
      case .retry: .again(round: round)
      }
    }
    try journal.resolve(
      items: found.compactMap { found in found.item.map { ($0, decided(found)) } },
      nodes: found.filter { $0.item == nil }.map { ($0.node.id, decided($0)) }, at: now)
  }
}
