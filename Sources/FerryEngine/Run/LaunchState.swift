import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer

/// The state in which a launch starts: the listing, reconciled with the journals, for each node.
struct LaunchState {
  /// The next free row of each journal, in the order of `SessionID`.
  var nextRows: [Int64]
  /// The journal row of each node; `nil` for tokens.
  var rows: [NodeRow?] = []
  var starts: [NodeStart] = []
  /// Requests and fetches that may have been executed in another session or at another origin.
  var formerRequests: [NodeID: FormerRequests.Entry] = [:]
  /// For nodes that have failed in this round and remained open, the time of the first failure.
  var failingSince: [NodeID: Instant] = [:]
  /// The captures of earlier launches for items that are still open.
  var values: [ItemRef: ItemValues] = [:]
  /// The upload IDs that items of the launch hold, and the IDs that must not be released.
  var uploadIDUses: UploadIDUses
  /// The captures of this round's requests, by manifest and name.
  var requests: [[String: [String: BoundValue]]]
  var secrets: [SensitiveValue] = []
  /// The files and folders that could not be listed, by node index.
  var problems: [Int: ListingProblems] = [:]
  /// Submitted files that do not exist, by node index and path. Each fails like a file that disappears later.
  var absent: [Int: [[UInt8]: TransportFailure]] = [:]
  /// Upload IDs that the current steps cannot use.
  struct DroppedIDs {
    var items = 0
    var reason: String
  }
  /// The dropped upload IDs, by node index.
  var droppedIDs: [Int: DroppedIDs] = [:]
  /// An upload ID of an open item whose file starts over. A run drops it before the loop starts.
  struct Drop {
    var node: NodeID
    /// The session whose journal has the item.
    var session: Int
    var row: Int64
    var reason: OrphanReason
    /// The captures of the ID, if the run then releases the ID unless another item uses it; `nil` if the run does not
    /// release the ID.
    var released: ItemValues?
  }
  var drops: [Drop] = []
  /// Upload IDs to release, oldest first, by node index.
  var orphans: [Int: [OrphanRow]] = [:]
  /// Upload IDs that this launch cannot release; found before a run, not for a preview.
  var orphansAside = OrphansAside()
  /// Orphans whose IDs are used by items, by session.
  var usedOrphans: [Int: UsedOrphans] = [:]
  /// The numbers of orphans whose IDs are used by items.
  struct UsedOrphans {
    /// An item of the same upload uses the ID. A run removes the orphan, because the item accounts for the ID.
    var taken: Set<Int64> = []
    /// Another upload may use the ID. A run marks the orphan as in doubt.
    var inDoubt: Set<Int64> = []
  }
  /// The positions in `include` of the globs that matched no file, by node index.
  var unmatched: [Int: [Int]] = [:]
  /// Delivered files with unchanged content for which the journal has no digest or a different modification
  /// time, by node.
  var confirmed: [Int: [ContentQuestions.Confirmed]] = [:]
  /// The uploads whose comparison with the journal was interrupted because the run was stopped, by node
  /// index. Such a run does not start any work.
  var interrupted: Set<Int> = []
  /// Whether nothing is run.
  let isPreview: Bool
  /// Reads files to determine whether they changed; if `nil`, such files are not read.
  let contents: ContentReader?
  /// Uploads whose lists are read when the uploads open, by node index. Their starts contain only the items in the
  /// journals.
  var listsLater: Set<Int> = []
  /// A list that responses determine, and that could not be read before the launch.
  struct UnreadableList {
    /// The fetch that stores it; `nil` if this launch does not run it.
    var fetch: NodeID?
    var remedy: String?
  }
  /// The lists of uploads that could not be read before the launch, by node index.
  var unreadableLists: [Int: UnreadableList] = [:]
  /// The listings of uploads whose starts contain only the first files, by node index.
  var partialListings: [Int: PartialListing] = [:]

  /// The state for a single job.
  init(
    _ job: Job, journals: SessionJournals, round: Int64, selection: Selection, listers: [Int: FileLister],
    former: FormerRequests = FormerRequests(), submitted: [Int: SubmittedFiles] = [:],
    contents: ContentReader? = nil, isPreview: Bool = false,
    given: ShardStarts? = nil, at now: Instant
  ) throws {
    try self.init(
      Jobs(job), journals: journals, rounds: [round], selection: selection, listers: listers,
      former: former, submitted: submitted, contents: contents, isPreview: isPreview, given: given, at: now)
  }

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - former: the requests that were sent before the manifest was edited.
  ///   - contents: reads files to determine whether they changed; if `nil`, such files are not read.
  ///   - isPreview: whether nothing is run. If so, a list is read now unless a fetch will write it.
  ///   - listsInPortions: whether uploads with many files may start with the first ones.
  ///   - given: the nodes whose state other processes have recorded.
  init(
    _ jobs: Jobs, journals: SessionJournals, rounds: [Int64], selection: Selection,
    listers: [Int: FileLister],
    former: FormerRequests = FormerRequests(), submitted: [Int: SubmittedFiles] = [:],
    contents: ContentReader? = nil, isPreview: Bool = false,
    listsInPortions: Bool = false, given: ShardStarts? = nil, at now: Instant
  ) throws {
    self.isPreview = isPreview
    self.contents = contents
    requests = jobs.manifests.map { _ in [:] }
    uploadIDUses = UploadIDUses(jobs.plan)
    for journal in journals.all { try journal?.checkItems() }
    let listedFirst = try Self.listFirst(jobs, listers, selection, given)
    var nextRows = try journals.all.map { try $0?.nextRow ?? 1 }
    self.nextRows = nextRows
    for (index, node) in jobs.plan.nodes.enumerated() {
      let id = NodeID(index)
      let manifest = jobs.plan.manifests[node.manifest.index]
      let round = rounds[node.manifest.index]
      let journal = journals.all[node.session.index]
      let row = try node.rowIdentity.flatMap {
        try journal?.node(manifest: manifest, name: node.name, kind: $0.kind, origin: $0.origin)
      }
      rows.append(row)
      if row?.failing?.round == round { failingSince[id] = row?.failing?.since }
      formerRequests[id] = former.entry(for: node, in: jobs.plan, own: row, round: round)
      guard selection.contains(id) else {
        starts.append(.notSelected)
        continue
      }
      if let given = given?.given[index] {
        starts.append(take(given, of: node))
        continue
      }
      switch node.work {
      case .token: starts.append(.open)
      case .upload(let work):
        if isPreview ? listIsFetched(id, jobs, listers[index]) : listMayChange(node, work) {
          listsLater.insert(index)
        }
        var listing = listedFirst[index]
        if listing == nil, listsInPortions, submitted[index] == nil {
          listing = try firstFiles(of: id, jobs.plan, listers[index], journal, row)
        }
        if listing == nil { listing = try list(of: id, jobs, listers[index], journal, row, given) }
        if let further = submitted[index] {
          if listing == nil, listsLater.contains(index) { listing = Listing() }
          try take(further, into: &listing, of: id, row, journal, at: now)
        }
        starts.append(
          try upload(
            id, node, work, row, journal, round: round, listing: listing, lister: listers[index],
            submitted: submitted[index] ?? SubmittedFiles(), at: now, nextRow: &nextRows[node.session.index],
            StopCheck(listers[index]?.isStopped)))
      case .fetch(let work):
        let path = jobs.job(of: id).folder + "/" + work.saveTo
        starts.append(
          formerRequests[id]?.start ?? fetch(work, row, savedTo: path, round: round, at: now))
      case .request: starts.append(formerRequests[id]?.start ?? request(node, row, round: round))
      }
    }
    self.nextRows = nextRows
    try repeatFetchesOfLists(jobs, listers)
    try findUsedUploadIDs(jobs.plan, journals, selection)
    try findOrphans(jobs.plan, journals)
  }

  /// Uses the state of a node that another process has recorded.
  private mutating func take(_ given: ShardStarts.Given, of node: Node) -> NodeStart {
    if let row = given.row, row.kind == .request {
      requests[node.manifest.index][node.name] = [String: BoundValue](row.captures)
      secrets += row.captures.filter(\.isSecret).map { SensitiveValue($0.value) }
    }
    return given.start
  }

  /// Adds submitted files to the listing. If the listing already contains a file, the listing's entry is
  /// used.
  private mutating func take(
    _ submitted: SubmittedFiles, into listing: inout Listing?, of id: NodeID, _ row: NodeRow?,
    _ journal: SessionJournal?, at now: Instant
  ) throws(JournalError) {
    var submitted = submitted
    try submitted.leaveOutTaken(by: journal, node: row, at: now)
    if let files = listing?.files { submitted.leaveOutThoseThere(files) }
    listing?.merge(submitted.columns)
    expect(submitted, of: id, among: submitted.columns)
  }

  /// Records the failures of submitted files that do not exist, for the files in the columns.
  mutating func expect(_ submitted: SubmittedFiles, of id: NodeID, among files: FileColumns) {
    guard !submitted.absent.isEmpty else { return }
    for file in 0..<files.count {
      let path = Array(files.path(file))
      if let failure = submitted.absent[path]?.failure { absent[id.index, default: [:]][path] = failure }
    }
  }

  private mutating func upload(
    _ id: NodeID, _ node: Node, _ work: UploadWork, _ row: NodeRow?, _ journal: SessionJournal?,
    round: Int64, listing: Listing?, lister: FileLister?, submitted: SubmittedFiles, at now: Instant,
    nextRow: inout Int64, _ stopCheck: StopCheck
  ) throws -> NodeStart {
    // The list determines which of the items in the journal continue, and from which URLs.
    if work.download != nil, listing == nil { return .upload(ItemTable(), Reconciliation.Settled()) }
    if let listing, !listing.problems.isEmpty { problems[id.index] = listing.problems }
    if let listing, !listing.unmatched.isEmpty { unmatched[id.index] = listing.unmatched }
    let files = listing?.files ?? FileColumns()
    var reconciliation = Reconciliation(
      listing: files, deliver: work.deliver,
      contents: try answers(id, work, row, journal, listing, root: try lister?.folder(), stopCheck),
      round: round,
      nextRow: nextRow)
    // A row of schema 4 does not have a counting point.
    let recorded = row.flatMap { $0.id == 0 ? nil : $0.countingPoint ?? .allocated }
    /// The identities of files of which the server has a part, by the items' positions.
    var partialIdentities: [Int: UInt64] = [:]
    if let row, let journal, row.id != 0 {
      let isAll = try stopCheck.forEachRow { check in
        try journal.forEachItem(node: row.id, meeting: files) { item in
          try check()
          var known = try item.known
          known.isQueuedInFuture = known.handedOver.map { $0 > now } ?? false
          if work.transferProtocol.machine == nil { known.partialIdentity = nil }
          switch known.state {
          case .done: known.isSubmittedAnew = submitted.isOther(item, at: now)
          case .failed, .cancelled: known.isSubmittedAnew = submitted.isNew(item, at: now)
          case .queued, .allocated, .transferred, .ambiguous: break
          }
          guard known.isBegun else {
            // There may be almost a million such items, and no captures are needed for them.
            item.withPath { reconciliation.meet(known, path: $0) }
            return
          }
          var captures = try item.captures
          let isReleased =
            work.abandon != nil
            && !work.mayCount(state: known.state, intent: known.intent, recorded: recorded)
          var drop = Drop(
            node: id, session: node.session.index, row: item.id, reason: .requeued,
            released: isReleased ? ItemValues(journaled: captures, sha256: nil, servers: item.servers) : nil)
          if let reason = work.lacks(captures, of: known) {
            droppedIDs[id.index, default: DroppedIDs(reason: reason)].items += 1
            drop.reason = .edited
            drops.append(drop)
            (known.state, known.intent) = (.queued, nil)
            captures = []
          }
          // Such an item ends as ambiguous.
          if work.needsDecision(known, captures) { (known.state, known.intent) = (.queued, .transfer) }
          let before = reconciliation.items.count
          item.withPath { reconciliation.meet(known, path: $0) }
          // New items may precede the known item, but the known item is the last one.
          let last = reconciliation.items.count - 1
          guard last >= before, reconciliation.items.rows[last] == item.id else { return }
          if !captures.isEmpty, reconciliation.items.entries[last].isQueuedAnew {
            drops.append(drop)
          }
          guard reconciliation.items.begun[last] != nil else { return }
          if let identity = known.partialIdentity, identity != 0 { partialIdentities[last] = identity }
          // While the file is sent in parts, the row contains its identity instead of its inode.
          var kept = ItemValues(
            journaled: captures, sha256: item.sha256,
            inode: known.partialIdentity == nil ? item.inode : nil, root: item.root,
            servers: item.servers)
          kept.commitKey = known.commitKey
          uploadIDUses.hold(&kept, of: id)
          values[ItemRef(id, last)] = kept
        }
      }
      if !isAll { interrupted.insert(id.index) }
    }
    if !interrupted.contains(id.index) { reconciliation.finish() }
    nextRow = reconciliation.nextRow
    var settled = reconciliation.settled
    var items = reconciliation.items
    if work.download == nil { try lookUpUnlisted(&items, of: id, lister, partialIdentities) }
    settled.unlisted = problems[id.index]?.failures ?? 0
    lister?.listed?.setOrigins(of: &items)
    items.countingPoint = recorded
    return .upload(items, settled)
  }

  /// Looks up the open items that the listing does not contain, such as submitted files, so that the rules for listed
  /// items also apply to them. Otherwise, an item whose file was replaced by another user's link would be sent
  /// through the link.
  private mutating func lookUpUnlisted(
    _ items: inout ItemTable, of id: NodeID, _ lister: FileLister?, _ partialIdentities: [Int: UInt64]
  ) throws(ListingFailure) {
    let unlisted = (0..<items.count).filter { items.files.identities[$0] == 0 }
    guard !unlisted.isEmpty, let lister else { return }
    let paths = unlisted.map { Array(items.files.path($0)) }
    let listing = try lister.lookUp(paths)
    var identities: [[UInt8]: UInt64] = [:]
    for file in 0..<listing.files.count {
      identities[Array(listing.files.path(file))] = listing.files.identities[file]
    }
    for (item, path) in zip(unlisted, paths) {
      guard let identity = identities[path] else { continue }
      items.files.identities[item] = identity
      // A server that has a part of one file must not receive the rest of another.
      if let partial = partialIdentities[item], partial != identity {
        absent[id.index, default: [:]][path] = TransportFailure(
          .sourceChanged,
          "\(DisplayPath.shown(path)): it has been replaced by another file since a part of it was sent; submit it again to "
            + "send the new file", mayHaveReachedServer: false)
      }
    }
    for problem in listing.problems {
      absent[id.index, default: [:]][problem.path] = problem.failureOfKnownFile
    }
    // An open item fails for the same reason, and must be counted only once.
    let refused = Set(listing.problems.map(\.path))
    if !refused.isEmpty { problems[id.index]?.removeAll { refused.contains($0.path) } }
  }

  private func fetch(
    _ work: FetchWork, _ row: NodeRow?, savedTo path: String, round: Int64, at now: Instant
  ) -> NodeStart {
    guard let row else { return work.start(nil, last: nil, kept: nil, failed: nil, at: now) }
    if row.hasIntent, row.round == round { return .intended }
    if row.round == round, row.state.isClosed { return .closed(NodeOutcome(row.state), row.failure) }
    let failed = row.failedAt.map {
      // If the fetch was canceled or skipped, its row contains the reason for that instead of a failure.
      FailedFetch(
        at: $0, failure: row.state == .cancelled ? nil : row.failure, isOpen: !row.state.isClosed)
    }
    // The file may have been deleted or changed since.
    let isStored = row.fetch?.file.map { $0 == FileVersion(path: path) } ?? false
    return work.start(
      isStored ? StoredDocument(freshUntil: row.fetch?.freshUntil) : nil,
      last: row.fetch?.fetchedAt, kept: row.fetch?.interval, failed: failed, at: now)
  }

  private mutating func request(_ node: Node, _ row: NodeRow?, round: Int64) -> NodeStart {
    guard let row, row.round == round else { return .open }
    if row.hasIntent { return .intended }
    guard row.state.isClosed else { return .open }
    requests[node.manifest.index][node.name] = [String: BoundValue](row.captures)
    secrets += row.captures.filter(\.isSecret).map { SensitiveValue($0.value) }
    return .closed(NodeOutcome(row.state), row.failure)
  }
}

extension FormerRequests.Entry {
  fileprivate var start: NodeStart {
    obstacle.map { .left($0) } ?? .closed(NodeOutcome(row.state), row.failure)
  }
}

extension NodeOutcome {
  /// The outcome recorded in a closed node's row.
  init(_ state: ItemState) {
    switch state {
    case .done: self = .succeeded
    case .ambiguous: self = .ambiguous
    case .cancelled: self = .skipped
    case .queued, .allocated, .transferred, .failed: self = .failed
    }
  }
}
