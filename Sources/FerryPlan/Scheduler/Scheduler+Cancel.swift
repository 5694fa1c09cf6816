import FerryManifest

/// `ferry cancel` and `ferry submit`, while a launch runs.
extension Scheduler {
  /// Ends what lives in the session as cancelled, of one manifest or of all. With `finishing` what was begun comes
  /// to its end.
  mutating func cancel(_ session: SessionID, of manifest: ManifestID?, finishing: Bool) {
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
        interrupt(id, .cancelled)
      }
      for ready in takeWaiting(where: { plan.isOf(session, cancelled, $0.ref) }).sorted() {
        end(ready.ref, .cancelled, .cancelled)
      }
    }
    for index in nodes.indices where plan.isOf(session, cancelled, ItemRef(NodeID(index))) {
      if let upload = uploadIndex[index] {
        cancelUnbegun(upload)
      } else if case .waiting = nodes[index].phase {
        close(index, .skipped, .cancelled)
      }
    }
  }

  /// Items that were handed over, and those that never were.
  private mutating func cancelUnbegun(_ upload: Int) {
    let node = uploads[upload].node
    switch nodes[node.index].phase {
    case .open:
      let unbegun = uploads[upload].takeUnbegun() + Array(handOverRest(of: upload))
      uploads[upload].inProgress += unbegun.count
      for item in unbegun {
        // What may have been sent before is not sent again by a later round.
        let isAmbiguous = mayHaveActed(item, of: upload)
        end(ItemRef(node, item), isAmbiguous ? .ambiguous : .cancelled, .cancelled)
      }
      closeIfThrough(upload)
    case .waiting: close(node.index, .skipped, .cancelled)
    case .notSelected, .finished, .settling, .closed, .left: break
    }
  }

  /// Items of later batches: the journal has to have them in this round, which does not list them anew then.
  private mutating func handOverRest(of upload: Int) -> Range<Int> {
    let rest = uploads[upload].handedOver..<uploads[upload].items.count
    guard !rest.isEmpty else { return rest }
    uploads[upload].handedOver = rest.upperBound
    uploads[upload].batchOpen += rest.count
    uploads[upload].batchSending += rest.count
    entries.append(.handedOver(uploads[upload].node, items: rest, at: now))
    return rest
  }

  /// Whether an earlier launch may have sent a commit of the item, or a step that is never sent again, and nobody has
  /// decided of that since.
  private func mayHaveActed(_ item: Int, of upload: Int) -> Bool {
    ![nil, .commitAgain].contains(uploads[upload].items.begun[item]?.intent)
  }

  /// Further items for an upload; a node that has ended takes them in the next launch.
  mutating func add(_ items: ItemTable, to node: NodeID) {
    guard let upload = uploadIndex[node.index], takesItems(node) else { return }
    let first = uploads[upload].items.count
    uploads[upload].items.append(contentsOf: items)
    for item in 0..<items.count { uploads[upload].further[Array(items.files.path(item))] = first + item }
    uploads[upload].open += items.count
  }
}

extension Scheduler {
  /// Whether an upload takes further items in this launch.
  package func takesItems(_ node: NodeID) -> Bool {
    guard uploadIndex[node.index] != nil, stop == nil, !isEnding,
      !sessions[session(of: node).index].cancelled.contains(plan.manifest(of: node))
    else { return false }
    switch nodes[node.index].phase {
    case .open, .waiting: return true
    case .notSelected, .finished, .settling, .closed, .left: return false
    }
  }

  /// Whether every item of an upload is in its journal; never of an upload that the launch was not to carry out.
  package func hasHandedOver(_ node: NodeID) -> Bool {
    uploadIndex[node.index].map { uploads[$0].handedOver == uploads[$0].items.count } ?? false
  }

  /// Whether one of the files is another than the launch's item of that path, or that item has ended in vain: the
  /// launch does not take it up again.
  package func hasOutdated(_ files: FileColumns, of node: NodeID) -> Bool {
    guard let upload = uploadIndex[node.index] else { return false }
    return (0..<files.count).contains { file in
      guard let item = uploads[upload].item(of: files.path(file)) else { return false }
      let items = uploads[upload].items
      let isSame =
        items.files.sizes[item] == files.sizes[file] && items.files.modified[item] == files.modified[file]
      return !isSame || [.failed, .cancelled].contains(items.phases[item])
    }
  }

  /// Of files those that the upload does not have in this launch. It costs what the files cost, however many items
  /// there are.
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
  /// Whether the place lives in the session and is of one of the manifests; tokens live nowhere.
  fileprivate func isOf(_ session: SessionID, _ manifests: [ManifestID], _ ref: ItemRef) -> Bool {
    let node = nodes[ref.node.index]
    // What releases an upload ID goes on.
    return node.session == session && node.kind != .token && ref.orphan == nil
      && manifests.contains(node.manifest)
  }
}

extension UploadState {
  /// The item of a path.
  fileprivate func item(of path: ArraySlice<UInt8>) -> Int? {
    var (low, high) = (0, listedCount)
    while low < high {
      let middle = (low + high) / 2
      if items.files.path(middle).lexicographicallyPrecedes(path) { low = middle + 1 } else { high = middle }
    }
    if low < listedCount, items.files.path(low).elementsEqual(path) { return low }
    return further[Array(path)]
  }

  /// Takes out the items of the batch that have not begun.
  mutating func takeUnbegun() -> [Int] {
    let items =
      Array(pending.items) + Array(delayed?.items.items ?? PendingItems().items)
      + skipped.unordered.map(\.item)
    pending = PendingItems()
    delayed = nil
    skipped = .init()
    return items.sorted()
  }
}
