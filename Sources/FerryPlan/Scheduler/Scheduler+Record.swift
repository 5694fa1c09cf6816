import FerryDigest
import FerryManifest

/// The data that a launch reports.
extension Scheduler {
  package var totals: RunRecord.Totals {
    var totals = RunRecord.Totals()
    for upload in uploads { totals.items += upload.counts }
    totals.itemsDoneInRun = metrics.itemsDone
    totals.bytes.useful = metrics.usefulBytes
    totals.bytes.resent = metrics.resentBytes
    totals.bytes.overhead = metrics.traffic.total -| metrics.usefulBytes -| metrics.resentBytes
    totals.requests = metrics.requests
    totals.tokensFetched = metrics.tokensFetched
    totals.tokenRefreshes = metrics.tokenRefreshes
    totals.idsAllocated = metrics.idsAllocated
    totals.idsExpired = metrics.idsExpired
    totals.idsOrphaned = uploads.reduce(0) { $0 + $1.releases.dropped }
    totals.idsReleased = metrics.idsReleased
    totals.resumes = metrics.resumes
    return totals
  }

  /// Whether the launch's network has a budget.
  package var hasBudget: Bool { !gates.isEmpty }

  package var delayRecords: [RunRecord.DelayRecord] {
    sessions.indices.compactMap { index in
      guard let endsAt = sessions[index].delay.endsAt else { return nil }
      return .init(
        session: plan.sessions[index].name, periodSeconds: sessions[index].delay.period.seconds,
        endsAt: endsAt.rfc3339)
    }
  }

  /// For each upload that transferred files, its largest transfer.
  package var samples: [NodeID: TransferSample] {
    Dictionary(uploads.compactMap { upload in upload.largest.map { (upload.node, $0) } }) { $1 }
  }

  /// The number of items that this launch may still work on.
  package var itemsOpen: Int { uploads.reduce(0) { $0 + $1.tally.open } }

  /// The number of items and of nodes with a single request, except optional ones, that have failed, or may
  /// have been executed, in this round so far (`${run.failed}`).
  package func failedCount(of manifest: ManifestID) -> Int {
    nodes.indices.reduce(0) { sum, index in
      guard plan.nodes[index].manifest == manifest else { return sum }
      if let upload = uploadIndex[index] {
        return sum + uploads[upload].counts.failed + uploads[upload].counts.ambiguous
      }
      guard case .closed(let outcome) = nodes[index].phase, !plan.isOptional(NodeID(index)) else {
        return sum
      }
      return outcome == .failed || outcome == .ambiguous ? sum + 1 : sum
    }
  }

  /// The number of items that have succeeded in this round so far (`${run.done}`).
  package func doneCount(of manifest: ManifestID) -> Int {
    uploads.reduce(0) { plan.manifest(of: $1.node) == manifest ? $0 + $1.counts.done : $0 }
  }

  /// Whether `ferry cancel` ended work of this manifest in this round: items, or nodes with a single request.
  private func hasCancelled(_ manifest: ManifestID) -> Bool {
    nodes.indices.contains { index in
      guard plan.nodes[index].manifest == manifest else { return false }
      if let upload = uploadIndex[index] { return uploads[upload].counts.cancelled > 0 }
      return isCancelled(index)
    }
  }

  /// Whether `ferry cancel` ended the node itself.
  private func isCancelled(_ index: Int) -> Bool {
    guard case .closed(.skipped) = nodes[index].phase else { return false }
    return nodes[index].failure?.isCancellation == true
  }

  /// The state of a node that ended with this outcome.
  private func reportState(of index: Int, _ outcome: NodeOutcome) -> ReportState {
    // A batch whose list cannot be read fails without an item.
    if let upload = uploadIndex[index], outcome == .failed {
      let counts = uploads[upload].counts
      if counts.failed == 0, counts.cancelled > 0 { return .cancelled }
    }
    return isCancelled(index) ? .cancelled : ReportState(outcome)
  }

  /// The manifest named in a record, if the plan has more than one.
  private func recordedManifest(_ node: Int) -> String? {
    plan.manifests.count > 1 ? plan.manifests[plan.nodes[node].manifest.index] : nil
  }

  package var nodeRecords: [RunRecord.NodeRecord] {
    plan.nodes.indices.map { index in
      let node = plan.nodes[index]
      let state = nodes[index]
      var record = RunRecord.NodeRecord(
        manifest: recordedManifest(index), name: node.name, kind: node.kind,
        session: plan.sessions[node.session.index].name, state: .waiting,
        reason: state.failure, items: uploadIndex[index].map { uploads[$0].counts },
        result: state.fetchResult, notBefore: state.notBefore?.rfc3339,
        intervalSeconds: state.interval?.seconds,
        attempts: (metrics.nodeFailures[NodeID(index)] ?? state.attempts?.failures ?? []).map(
          RunRecord.AttemptRecord.init))
      if plan.isOptional(NodeID(index)) { record.optional = true }
      if node.kind == .download { record.direction = node.kind.direction }
      record.needs = node.needs.isEmpty ? nil : node.needs.map { plan.nodes[$0.index].name }
      record.token = node.steps.lazy.compactMap(\.token).first.map { plan.nodes[$0.index].name }
      if index < metrics.work.count { record.work = metrics.work[index].record }
      record.singleConnection = metrics.singleConnections[NodeID(index)]
      record.orphans = uploadIndex[index].flatMap { uploads[$0].releases.record }
      if let token = tokens[index] {
        record.state =
          switch token.phase {
          case .failed: .failed
          case .absent, .fetching, .valid: token.generation > 0 ? .succeeded : .notNeeded
          }
        return record
      }
      switch state.phase {
      case .notSelected: record.state = .notSelected
      case .waiting:
        guard !isHeldByStop(index) else {
          record.reason = stopReason
          break
        }
        let names = node.needs.map { plan.nodes[$0.index].name }.joined(separator: ", ")
        record.reason = .init(code: .needs, message: "for \(names)")
      case .open, .finished, .settling: break
      case .closed(let outcome): record.state = reportState(of: index, outcome)
      case .left(let failure): record.reason = failure
      }
      return record
    }
  }

  /// Whether the stop is the only reason why the node has not opened.
  private func isHeldByStop(_ index: Int) -> Bool {
    guard stop != nil, tokens[index] == nil, case .waiting = nodes[index].phase else { return false }
    return needsMet(index) == true
  }

  package var itemRecords: [RunRecord.ItemRecord] { metrics.notes.map(record) }

  package func record(_ note: ItemNote) -> RunRecord.ItemRecord {
    guard let item = note.ref.item, let upload = uploadIndex[note.ref.node.index] else {
      preconditionFailure("notes refer to items")
    }
    let files = uploads[upload].items.files
    let bytes = files.path(item)
    let state: ReportState = note.state.isClosed ? ReportState(note.state) : .waiting
    return RunRecord.ItemRecord(
      manifest: recordedManifest(note.ref.node.index), node: plan.nodes[note.ref.node.index].name,
      path: bytes, size: files.sizes[item], state: state, reason: note.failure,
      attempts: note.attemptFailures.map(RunRecord.AttemptRecord.init), span: note.span)
  }

  /// Whether the report lists every item of the upload.
  package func reportsEveryItem(of node: NodeID) -> Bool {
    guard case .upload(let work) = plan.nodes[node.index].work else { return false }
    return options.reportsEveryItem ?? work.reportsEveryItem
  }

  /// Whether the report lists every item of one of the uploads.
  package var reportsEveryItem: Bool { uploads.contains { reportsEveryItem(of: $0.node) } }

  /// Calls `body` with each item that the report lists, by upload and in the order of its table.
  ///
  /// - Parameters:
  ///   - notable: the records of `metrics.notes`, in the same order.
  ///   - digest: returns the SHA-256 digest of an item's file, if it is known.
  package func eachItemRecord(
    notable: [RunRecord.ItemRecord], digest: (ItemRef) -> [UInt8]?,
    _ body: (RunRecord.ItemRecord) throws -> Void
  ) rethrows {
    var indices: [ItemRef: Int] = [:]
    for (index, note) in metrics.notes.enumerated() { indices[note.ref] = index }
    for upload in uploads.indices {
      let node = uploads[upload].node
      let listsAll = reportsEveryItem(of: node)
      for item in 0..<uploads[upload].items.count {
        let ref = ItemRef(node, item)
        var record: RunRecord.ItemRecord
        if let index = indices[ref] {
          record = notable[index]
        } else if listsAll {
          record = cleanRecord(of: item, upload)
        } else {
          continue
        }
        record.sha256 = digest(ref).map(Hexadecimal.text)
        try body(record)
      }
    }
  }

  /// The record of an item that succeeded on the first attempt, or that was not started.
  private func cleanRecord(of item: Int, _ upload: Int) -> RunRecord.ItemRecord {
    let (node, items) = (uploads[upload].node.index, uploads[upload].items)
    let state: ReportState =
      switch items.phases[item] {
      case .done: .done
      case .failed: .failed
      case .ambiguous: .ambiguous
      case .cancelled: .cancelled
      case .waiting, .active, .left: .waiting
      }
    return RunRecord.ItemRecord(
      manifest: recordedManifest(node), node: plan.nodes[node].name, path: items.files.path(item),
      size: items.files.sizes[item], state: state, attempts: [], span: uploads[upload].spans[item])
  }

  /// The reason why the launch stopped early; `nil` if it did not stop early, or if its deadline passed when
  /// no work remained.
  package var stopCause: StopCause? {
    guard metrics.stop == .maxDuration, !metrics.codes.values.contains(where: { $0.contains(.cutOff) }) else {
      return metrics.stop
    }
    return nodes.indices.contains(where: isHeldByStop) ? .maxDuration : nil
  }

  /// The exit code of the process, once the scheduler has ended.
  package var exitCode: ExitCode {
    .first(of: Set(plan.manifests.indices.map { exitCode(of: ManifestID($0)) }))
  }

  /// The exit code for this manifest alone (`${run.exit_code}`).
  package func exitCode(of manifest: ManifestID) -> ExitCode {
    var codes = metrics.codes[manifest] ?? []
    switch stopCause {
    case .interrupt: codes.insert(.interrupted)
    case .terminate: codes.insert(.terminated)
    case .maxDuration: codes.insert(.cutOff)
    case .now, nil: break
    }
    if failedCount(of: manifest) > 0 { codes.insert(.itemsFailed) }
    if hasCancelled(manifest), !options.acceptsCancelled { codes.insert(.itemsFailed) }
    return ExitCode.first(of: codes)
  }

  package func path(of ref: ItemRef) -> ArraySlice<UInt8>? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return nil }
    return uploads[upload].items.files.path(item)
  }

  /// The size of the item's file as it was listed.
  func size(of ref: ItemRef) -> Int64? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return nil }
    return uploads[upload].items.files.sizes[item]
  }

  /// Calls `body` with the table of a node's items, which is copied. A property of one item costs less with
  /// `listedFile(of:)` and `row(of:)`.
  package func withItems<Result>(of node: NodeID, _ body: (borrowing ItemTable) -> Result) -> Result? {
    uploadIndex[node.index].map { body(uploads[$0].items) }
  }

  /// The item's row in the journal.
  package func row(of ref: ItemRef) -> Int64? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return nil }
    return uploads[upload].items.rows[item]
  }

  /// The item's file as it was listed.
  package func listedFile(of ref: ItemRef) -> ListedFile? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return nil }
    return ListedFile(
      path: uploads[upload].items.files.path(item), size: uploads[upload].items.files.sizes[item],
      modified: uploads[upload].items.files.modified[item],
      identity: uploads[upload].items.files.identities[item])
  }

  package func fetchResult(of node: NodeID) -> FetchResult? { nodes[node.index].fetchResult }

  /// The interval until the next fetch, counted from the last successful one.
  package func fetchInterval(of node: NodeID) -> Duration? { nodes[node.index].interval }
}
