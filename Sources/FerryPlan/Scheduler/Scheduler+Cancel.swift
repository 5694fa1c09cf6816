import FerryManifest

/// `ferry cancel` and `ferry submit` during a launch.
extension Scheduler {
  /// Cancels the session's work, for one manifest or for all. With `finishing`, work that has begun runs to
  /// completion.
  ///
  /// - Parameter failure: the failure that is recorded with the canceled work.
  mutating func cancel(
    _ session: SessionID, of manifest: ManifestID?, finishing: Bool, _ failure: RecordedFailure
  ) {
    let plan = plan
    let cancelled = manifest.map { [$0] } ?? plan.manifests.indices.map(ManifestID.init)
    sessions[session.index].cancelled.formUnion(cancelled)
    let all = sessions[session.index].cancelled
    sessions[session.index].isCancelled = plan.nodes.allSatisfy {
      $0.session != session || $0.kind == .token || all.contains($0.manifest)
    }
    if !finishing {
      for (id, flight) in flights.sorted(by: { $0.key < $1.key })
      where plan.isOf(session, cancelled, flight.attempt.ref) {
        interrupt(id, .cancelled(failure))
      }
    }
    let kept = finishing ? requested() : []
    let waiting = takeWaiting { plan.isOf(session, cancelled, $0.ref) && !kept.contains($0.ref) }
    for ready in waiting.sorted() { end(ready.ref, .cancelled, failure) }
    for index in nodes.indices where plan.isOf(session, cancelled, ItemRef(NodeID(index))) {
      switch nodes[index].phase {
      case .waiting: cancelWaiting(index, failure)
      case .open:
        guard let upload = uploadIndex[index] else { continue }
        cancelUnbegun(upload, failure)
        if finishing { releaseSent(of: upload) }
      case .notSelected, .finished, .settling, .closed, .left: break
      }
    }
  }

  /// Cancels the work that has not been queued yet: later batches, and nodes that have not opened.
  ///
  /// - Parameter failure: the failure that is recorded with the canceled work.
  mutating func drain(_ session: SessionID, of manifest: ManifestID?, _ failure: RecordedFailure) {
    let drained = manifest.map { [$0] } ?? plan.manifests.indices.map(ManifestID.init)
    sessions[session.index].drained.formUnion(drained)
    for index in nodes.indices where plan.isOf(session, drained, ItemRef(NodeID(index))) {
      switch nodes[index].phase {
      case .waiting: cancelWaiting(index, failure)
      case .open:
        guard let upload = uploadIndex[index] else { continue }
        cancelUnlisted(of: upload, failure)
        for item in handOverRest(of: upload) { end(ItemRef(NodeID(index), item), .cancelled, failure) }
      case .notSelected, .finished, .settling, .closed, .left: break
      }
    }
  }

  /// The items and nodes in progress for which this launch has sent a request, and the items in progress of which an earlier
  /// launch has sent the file.
  private func requested() -> Set<ItemRef> {
    var refs = Set(flights.values.map(\.attempt.ref))
    for index in nodes.indices {
      let node = NodeID(index)
      let items = uploadIndex[index].map { uploads[$0].active.items } ?? []
      for ref in items.map({ ItemRef(node, $0) }) + [ItemRef(node)]
      where self[attempts: ref]?.requests ?? 0 > 0 || progress(of: ref)?.isTransferred == true {
        refs.insert(ref)
      }
    }
    return refs
  }

  /// Stops holding transferred items for their batch, because no resume of the session follows.
  private mutating func releaseSent(of upload: Int) {
    let sent = uploads[upload].sent
    uploads[upload].sent = []
    for ready in sent {
      change(ready.ref, .proceed)
      enqueue(ready)
    }
  }

  /// Cancels a node that waits for other nodes. An upload ends with its items canceled, so that no later
  /// launch of the round sends them.
  private mutating func cancelWaiting(_ index: Int, _ failure: RecordedFailure) {
    guard let upload = uploadIndex[index], uploads[upload].items.count > 0 else {
      return close(index, .skipped, failure)
    }
    nodes[index].phase = .open
    cancelUnbegun(upload, failure)
  }

  /// Cancels items of the batch that have not begun, and items of later batches.
  private mutating func cancelUnbegun(_ upload: Int, _ failure: RecordedFailure) {
    let node = uploads[upload].node
    cancelUnlisted(of: upload, failure)
    let unbegun = uploads[upload].takeUnbegun() + Array(handOverRest(of: upload))
    for item in unbegun { end(ItemRef(node, item), .cancelled, failure) }
    closeIfThrough(upload)
  }

  /// Cancels the files that are not listed yet: they are queued and canceled when they are.
  private mutating func cancelUnlisted(of upload: Int, _ failure: RecordedFailure) {
    if uploads[upload].list.hasMore { uploads[upload].cancellation = failure }
  }

  /// Queues the items of later batches. The journal must contain them in this round, so that the round does
  /// not list them again.
  mutating func handOverRest(of upload: Int) -> Range<Int> {
    let rest = uploads[upload].handedOver..<uploads[upload].items.count
    guard !rest.isEmpty else { return rest }
    uploads[upload].queue(until: rest.upperBound)
    entries.append(.itemsQueued(uploads[upload].node, items: rest, at: now))
    uploads[upload].queuedBy = sequence
    if uploads[upload].list.hasMore { actions.append(.sync) }
    return rest
  }

  /// Adds items to an upload. An upload that has ended in this launch is opened again.
  mutating func add(_ items: ItemTable, to node: NodeID) {
    guard let upload = uploadIndex[node.index], takesItems(node) else { return }
    uploads[upload].append(items)
    switch nodes[node.index].phase {
    case .open, .waiting: break
    case .notSelected: nodes[node.index].phase = .waiting
    case .finished, .settling, .closed, .left:
      nodes[node.index].phase = .open
      handOver(upload)
    }
  }
}

extension Scheduler {
  /// Whether an upload accepts more items in this launch. It accepts none if it was skipped or canceled.
  package func takesItems(_ node: NodeID) -> Bool {
    guard uploadIndex[node.index] != nil, stop == nil, !isEnding,
      !sessions[session(of: node).index].cancelled.contains(plan.manifest(of: node)),
      !sessions[session(of: node).index].drained.contains(plan.manifest(of: node))
    else { return false }
    switch nodes[node.index].phase {
    // An upload that is not selected has items only if it accepts them (`NodeStart.submissions`).
    case .open, .waiting, .left, .notSelected: return true
    case .settling(_, let outcome), .closed(let outcome): return outcome != .skipped
    case .finished: return false
    }
  }

  /// Whether every item of an upload is in the journal. `false` for an upload that the launch does not run.
  package func hasHandedOver(_ node: NodeID) -> Bool {
    uploadIndex[node.index].map { uploads[$0].handedOver == uploads[$0].items.count } ?? false
  }

  /// Whether one of the files differs from the launch's item with the same path, or that item has failed or
  /// was canceled. The launch does not start such an item again.
  package func hasOutdated(_ files: FileColumns, of node: NodeID) -> Bool {
    guard let upload = uploadIndex[node.index] else { return false }
    return (0..<files.count).contains { file in
      guard let item = uploads[upload].item(of: files.path(file)) else { return false }
      return uploads[upload].isOutdated(item, by: file, of: files)
    }
  }

  /// Whether an upload has delivered a file in this launch, in the same version; `nil` if it has no such item.
  package func hasDelivered(_ file: Int, of files: FileColumns, by node: NodeID) -> Bool? {
    guard let upload = uploadIndex[node.index], let item = uploads[upload].item(of: files.path(file)) else {
      return nil
    }
    return uploads[upload].items.phases[item] == .done
      && !uploads[upload].differs(item, from: file, of: files)
  }

  /// Whether the launch has an item of a file, in the same version, that has neither failed nor been canceled.
  package func hasQueued(_ file: Int, of files: FileColumns, by node: NodeID) -> Bool {
    guard let upload = uploadIndex[node.index], let item = uploads[upload].item(of: files.path(file)) else {
      return false
    }
    return !uploads[upload].isOutdated(item, by: file, of: files)
  }

  /// The launch's items that are other versions of these files.
  package func otherVersions(of files: FileColumns, of node: NodeID) -> FileColumns {
    var others = FileColumns()
    guard let upload = uploadIndex[node.index] else { return others }
    for file in 0..<files.count {
      guard let item = uploads[upload].item(of: files.path(file)),
        uploads[upload].differs(item, from: file, of: files)
      else { continue }
      others.append(item, of: uploads[upload].items.files)
    }
    return others
  }

  /// The files that the upload does not contain in this launch. The cost depends on the number of files, not
  /// on the number of items.
  package func unknown(_ files: FileColumns, to node: NodeID) -> FileColumns {
    guard let upload = uploadIndex[node.index] else { return files }
    var unknown = FileColumns()
    for item in 0..<files.count where uploads[upload].item(of: files.path(item)) == nil {
      unknown.append(item, of: files)
    }
    return unknown
  }
}

extension Plan {
  /// Whether the item or node belongs to the session and to one of the manifests. Tokens are not treated as
  /// part of a session here.
  fileprivate func isOf(_ session: SessionID, _ manifests: [ManifestID], _ ref: ItemRef) -> Bool {
    let node = nodes[ref.node.index]
    // The release of an upload ID is not canceled.
    return node.session == session && node.kind != .token && ref.orphan == nil
      && manifests.contains(node.manifest)
  }
}

extension UploadState {
  /// Whether the size or the modification time of an item differs from that of a file.
  fileprivate func differs(_ item: Int, from file: Int, of files: FileColumns) -> Bool {
    items.files.sizes[item] != files.sizes[file] || items.files.modified[item] != files.modified[file]
  }

  /// Whether an item differs from a file, has failed or was canceled.
  fileprivate func isOutdated(_ item: Int, by file: Int, of files: FileColumns) -> Bool {
    differs(item, from: file, of: files) || [.failed, .cancelled].contains(items.phases[item])
  }

  /// The index of the item with this path.
  fileprivate func item(of path: ArraySlice<UInt8>) -> Int? {
    var (low, high) = (0, listedCount)
    while low < high {
      let middle = (low + high) / 2
      if items.files.path(middle).lexicographicallyPrecedes(path) { low = middle + 1 } else { high = middle }
    }
    if low < listedCount, items.files.path(low).elementsEqual(path) { return low }
    return further[Array(path)]
  }

  /// Removes the items of the batch that have not begun, and returns them.
  mutating func takeUnbegun() -> [Int] {
    let items =
      Array(pending.items) + Array(held.items) + Array(delayed?.items.items ?? PendingItems().items)
      + skipped.unordered.map(\.item)
    (pending, held) = (PendingItems(), PendingItems())
    delayed = nil
    skipped = .init()
    return items.sorted()
  }
}
