import FerryJournal
import FerryPlan

/// Upload IDs that will not be used.
extension LaunchState {
  /// The maximum number of upload IDs that a launch releases per upload, because they are held in memory.
  private static let mostOrphans = 10_000
  /// The maximum size of the captures of these upload IDs together, in bytes. A server determines the length of an ID.
  static let mostOrphanBytes = 32 << 20
  /// The maximum number of other upload IDs that a launch recognizes per session. Only their hashes are held
  /// in memory.
  private static let mostAside = 200_000

  /// Finds the upload IDs that must not be released because they belong to items and orphans that are not part of the
  /// launch or are no longer open.
  mutating func findUsedUploadIDs(
    _ plan: Plan, _ journals: SessionJournals, _ selection: Selection
  ) throws(JournalError) {
    guard uploadIDUses.isNeeded else { return }
    for (session, journal) in journals.all.enumerated() {
      var nodes: [Int64: NodeID] = [:]
      for (index, node) in plan.nodes.enumerated() where node.session.index == session {
        if let row = rows[index], row.id != 0 { nodes[row.id] = NodeID(index) }
      }
      let selected = nodes.filter { selection.contains($0.value) }.map(\.key)
      try journal?.forEachUsedUploadID(excluding: selected) { node, captures, servers in
        uploadIDUses.use(ItemValues(journaled: captures, sha256: nil, servers: servers), of: nodes[node])
      }
    }
  }

  /// Finds the orphans of earlier launches that the current steps can release and that no item uses.
  mutating func findOrphans(_ plan: Plan, _ journals: SessionJournals) throws(JournalError) {
    var size = 0
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work, case .upload = starts[index], let abandon = work.abandon,
        let row = rows[index], row.id != 0, let journal = journals.all[node.session.index]
      else { continue }
      let identity = UploadIDIdentity(abandon)
      var found: [OrphanRow] = []
      for orphan in try journal.releasableOrphans(
        node: row.id, limit: Self.mostOrphans, size: max(0, Self.mostOrphanBytes - size),
        where: { abandon.lackedCapture(of: $0) == nil })
      {
        let values = ItemValues(orphan)
        let known = identity.values(values)
        let session = node.session.index
        // The release request refers only to the file, not to the ID.
        if known.isEmpty, try journal.hasUploadID(node: row.id, path: orphan.path) {
          usedOrphans[session, default: UsedOrphans()].inDoubt.insert(orphan.id)
          continue
        }
        switch uploadIDUses.sharing(known, of: NodeID(index), values.servers) {
        case .none: found.append(orphan)
        case .sameUpload: usedOrphans[session, default: UsedOrphans()].taken.insert(orphan.id)
        case .otherUpload: usedOrphans[session, default: UsedOrphans()].inDoubt.insert(orphan.id)
        }
      }
      orphans[index] = found.isEmpty ? nil : found
      size += found.reduce(0) { $0 + $1.captures.size }
    }
  }

  /// Finds the orphans of earlier launches that the current steps cannot release.
  private mutating func findOrphansAside(_ plan: Plan, _ journals: SessionJournals) throws(JournalError) {
    for (session, journal) in journals.all.enumerated() {
      guard let journal else { continue }
      var identities: [Int64: UploadIDIdentity] = [:]
      var released: Set<Int64> = []
      for (index, node) in plan.nodes.enumerated() where node.session.index == session {
        guard case .upload(let work) = node.work, let row = rows[index] else { continue }
        identities[row.id] = work.abandon.map(UploadIDIdentity.init)
        released.formUnion((orphans[index] ?? []).map(\.id))
      }
      try journal.forEachReleasableOrphan(limit: released.count + Self.mostAside) { orphan in
        if !released.contains(orphan.id) {
          orphansAside.add(orphan, session: session, identity: identities[orphan.node])
        }
      }
    }
  }

  var orphanCounts: [NodeID: Int] {
    Dictionary(uniqueKeysWithValues: orphans.map { (NodeID($0.key), $0.value.count) })
  }

  /// The number of upload IDs that a run drops when it starts, by node.
  var dropCounts: [NodeID: Int] { drops.reduce(into: [:]) { $0[$1.node, default: 0] += 1 } }

  /// The number of upload IDs that a run with this state releases, by node. The number includes the IDs that the run
  /// itself drops, which are not orphans yet.
  func releaseCounts(_ plan: Plan) -> [NodeID: Int] {
    drops.reduce(into: orphanCounts) { counts, drop in
      guard let values = drop.released, case .upload(let work) = plan.nodes[drop.node.index].work,
        let abandon = work.abandon,
        uploadIDUses.sharing(UploadIDIdentity(abandon).values(values), of: drop.node, values.servers) == .none
      else { return }
      counts[drop.node, default: 0] += 1
    }
  }

  /// Turns the upload IDs of files that start over into orphans. Afterwards, the items no longer hold the dropped IDs. Also
  /// records the point at which an upload with a newly allocated ID, or a transfer that must not be repeated, counts as
  /// delivered. Called before a run.
  mutating func dropUploadIDs(
    of plan: Plan, in journals: SessionJournals, at now: Instant
  ) throws(JournalError) {
    for (session, journal) in journals.all.enumerated() {
      try journal?.dropUploadIDs(
        drops.filter { $0.session == session }.map { ($0.row, $0.reason) }, at: now)
    }
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work, work.hasUploadIDs || work.transfer.repeatability == .once,
        let row = rows[index],
        let journal = journals.all[node.session.index]
      else { continue }
      try journal.setCountingPoint(work.countingPoint, node: row.id)
    }
    if !drops.isEmpty { try findOrphans(plan, journals) }
    for (session, orphans) in usedOrphans {
      if !orphans.taken.isEmpty { _ = try journals.all[session]?.forgetOrphans(orphans.taken.sorted()) }
      try journals.all[session]?.doubtOrphans(orphans.inDoubt.sorted())
    }
    try findOrphansAside(plan, journals)
    try doubtOrphansThatItemsHold(journals)
  }

  /// Marks orphans as in doubt if this launch does not release them and open items hold their IDs, because these
  /// items may be delivered.
  private mutating func doubtOrphansThatItemsHold(_ journals: SessionJournals) throws(JournalError) {
    var held: [Int: [Int64]] = [:]
    for values in values.values {
      for orphan in orphansAside.take(values) { held[orphan.session, default: []].append(orphan.row) }
    }
    for (session, orphans) in held { try journals.all[session]?.doubtOrphans(orphans.sorted()) }
  }
}
