import FerryJournal
import FerryManifest
import FerryPlan

/// Lists of files, which nodes of the upload's manifest may write.
extension LaunchState {
  /// Whether the upload has a list file and depends on a node that has not ended in this round. The starts of
  /// the nodes that it depends on must already be known.
  func listMayChange(_ node: Node, _ work: UploadWork) -> Bool {
    work.listFile != nil && node.needs.contains { isToRun($0) }
  }

  /// Whether the upload waits for a fetch that writes its list file and has not ended in this round.
  func listIsFetched(_ id: NodeID, _ jobs: Jobs) -> Bool { fetchOfList(id, jobs, through: isToRun) != nil }

  /// The fetch that writes an upload's list file; `nil` if there is none.
  ///
  /// - Parameter isIncluded: whether to follow the dependency on a node.
  private func fetchOfList(
    _ id: NodeID, _ jobs: Jobs, through isIncluded: (NodeID) -> Bool
  ) -> NodeID? {
    guard case .upload(let work) = jobs.plan.nodes[id.index].work, let list = work.listFile else {
      return nil
    }
    let job = jobs.job(of: id)
    let path = job.standardized(list)
    var (waiting, found) = (jobs.plan.nodes[id.index].needs, Set<NodeID>())
    while let need = waiting.popLast() {
      guard found.insert(need).inserted, isIncluded(need) else { continue }
      waiting += jobs.plan.nodes[need.index].needs
      guard case .fetch(let fetch) = jobs.plan.nodes[need.index].work else { continue }
      if job.standardized(fetch.saveTo) == path { return need }
    }
    return nil
  }

  /// The first files of an upload that the journal does not know, or all of them if there are few; `nil` if its files
  /// have to be listed completely before the launch.
  mutating func firstFiles(
    of id: NodeID, _ plan: Plan, _ lister: FileLister?, _ journal: SessionJournal?, _ row: NodeRow?
  ) throws -> Listing? {
    guard let lister, plan.listsInPortions(id), case .globs(let include, let exclude) = lister.source
    else { return nil }
    if let journal, let row, try journal.hasItems(node: row.id) { return nil }
    let (listing, rest) = try lister.firstFiles(include, exclude)
    partialListings[id.index] = rest
    return listing
  }

  /// The files of an upload; `nil` if they are listed when the upload opens.
  ///
  /// If a fetch has stored a list that cannot be read, for example an error page, the fetch is repeated. Otherwise, the
  /// round could not end, and would not fetch the list again.
  ///
  /// - Parameter given: the nodes that this process does not run.
  mutating func list(
    of id: NodeID, _ jobs: Jobs, _ lister: FileLister?, _ journal: SessionJournal?, _ row: NodeRow?,
    _ given: ShardStarts?
  ) throws -> Listing? {
    guard !listsLater.contains(id.index) else { return nil }
    do {
      return try lister?.list(journal, row)
    } catch let failure as ListingFailure where failure.root == nil {
      guard let fetch = fetchOfList(id, jobs, through: { _ in true }) else { throw failure }
      guard given?.given[fetch.index] == nil else { throw failure.ofListFetched(by: given?.setup) }
      guard isSettled(fetch) else { throw failure }
      starts[fetch.index] = .open
      listsLater.insert(id.index)
      return nil
    }
  }

  /// Repeats the fetch of a list that only the shards need, if the list cannot be read.
  ///
  /// Otherwise, the shards could not start, and the work before them would not fetch the list again in this round.
  mutating func repeatFetch(ofListOf id: NodeID, _ jobs: Jobs, _ lister: FileLister?) throws {
    guard case .setup = jobs.job(of: id).part, let lister,
      let fetch = fetchOfList(id, jobs, through: { _ in true }), isSettled(fetch)
    else { return }
    do {
      _ = try lister.list(nil, nil)
    } catch let failure as ListingFailure where failure.root == nil {
      starts[fetch.index] = .open
    } catch is ListingFailure {
      // The shards report that the root cannot be listed.
    }
  }

  /// Whether the launch would not run a fetch, because the fetch has ended in this round, or because its document is
  /// stored. A fetch that failed is included: without its list, the round could not end.
  private func isSettled(_ fetch: NodeID) -> Bool {
    switch starts[fetch.index] {
    case .closed, .notDue, .stored: true
    case .notSelected, .submissions, .open, .intended, .upload, .switchedOff, .notStored, .left, .skipped:
      false
    }
  }

  /// Whether the launch still has to run a node. Its start must already be known.
  private func isToRun(_ node: NodeID) -> Bool {
    switch starts[node.index] {
    case .open, .intended, .upload: true
    case .notSelected, .submissions, .closed, .notDue, .switchedOff, .stored, .notStored, .left, .skipped:
      false
    }
  }
}

extension ListingFailure {
  /// The failure with the remedy of a shard, which does not run the fetch.
  ///
  /// - Parameter setup: the command that runs the fetch.
  fileprivate func ofListFetched(by setup: String?) -> ListingFailure {
    guard let setup, remedy == nil else { return self }
    var failure = self
    failure.remedy = "fetch the list again: \(setup)"
    return failure
  }
}
