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
  func listIsFetched(_ id: NodeID, _ jobs: Jobs, _ lister: FileLister?) -> Bool {
    neededFetch(ofListOf: id, jobs, lister, through: isToRun) != nil
  }

  /// The fetch that writes an upload's list file, among the nodes that the upload needs; `nil` if there is none.
  ///
  /// - Parameter isIncluded: whether to follow the dependency on a node.
  private func neededFetch(
    ofListOf id: NodeID, _ jobs: Jobs, _ lister: FileLister?,
    through isIncluded: (NodeID) -> Bool = { _ in true }
  ) -> NodeID? {
    guard let lister, !lister.listFetches.isEmpty else { return nil }
    var (waiting, found) = (jobs.plan.nodes[id.index].needs, Set<NodeID>())
    while let need = waiting.popLast() {
      guard found.insert(need).inserted, isIncluded(need) else { continue }
      if jobs.plan.isFetch(need, among: lister.listFetches) { return need }
      waiting += jobs.plan.nodes[need.index].needs
    }
    return nil
  }

  /// The fetch that writes an upload's list file, even if the upload does not need it; `nil` if there is none.
  private func fetch(ofListOf id: NodeID, _ jobs: Jobs, _ lister: FileLister) -> NodeID? {
    if let needed = neededFetch(ofListOf: id, jobs, lister) { return needed }
    guard !lister.listFetches.isEmpty else { return nil }
    return jobs.plan.nodes.indices.lazy.map { NodeID($0) }.first {
      jobs.plan.isFetch($0, among: lister.listFetches)
    }
  }

  /// Lists the uploads that delete or move files after other uploads have sent them. They are listed before those others:
  /// otherwise, they could contain, and remove, files that arrived later and that the others have not sent.
  ///
  /// - Returns: the listings of selections by globs, by node. The files of lists are checked when the uploads open.
  static func listFirst(
    _ jobs: Jobs, _ listers: [Int: FileLister], _ selection: Selection, _ given: ShardStarts?
  ) throws -> [Int: Listing] {
    var listings: [Int: Listing] = [:]
    for (index, node) in jobs.plan.nodes.enumerated() where node.after != .keep {
      guard selection.contains(NodeID(index)), given?.given[index] == nil, let lister = listers[index],
        case .globs = lister.source, !jobs.plan.neededUploads(of: NodeID(index)).isEmpty
      else { continue }
      listings[index] = try lister.list(nil, nil)
    }
    return listings
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
  /// If responses determine the list, they must not prevent the work of other nodes: a list that cannot be read, for example
  /// an error page, is read again when the upload opens, and only this upload remains if the list still cannot be read.
  /// In a plan, such a list is an error, unless a fetch that the upload needs will write it.
  ///
  /// - Parameter given: the nodes that this process does not run.
  mutating func list(
    of id: NodeID, _ jobs: Jobs, _ lister: FileLister?, _ journal: SessionJournal?, _ row: NodeRow?,
    _ given: ShardStarts?
  ) throws -> Listing? {
    guard let lister, !listsLater.contains(id.index) else { return nil }
    do {
      return try lister.list(journal, row)
    } catch var failure as ListingFailure where failure.root == nil {
      guard case .server = lister.listAuthor else { throw failure }
      let list = unreadableList(of: id, jobs, lister, given)
      // The start of a fetch is only known if the upload needs it.
      if isPreview, list.remedy != nil || list.fetch.map({ willRepeat($0, jobs) }) != true {
        failure.remedy = failure.remedy ?? list.remedy
        throw failure
      }
      unreadableLists[id.index] = list
      listsLater.insert(id.index)
      return nil
    }
  }

  /// Whether the launch repeats a fetch to get a list that can be read. Its start must already be known.
  private func willRepeat(_ fetch: NodeID, _ jobs: Jobs) -> Bool {
    isSettled(fetch) && jobs.plan.nodes[fetch.index].mayBeRepeated
  }

  private func unreadableList(
    of id: NodeID, _ jobs: Jobs, _ lister: FileLister, _ given: ShardStarts?
  ) -> UnreadableList {
    guard let fetch = fetch(ofListOf: id, jobs, lister) else { return UnreadableList() }
    if given?.given[fetch.index] != nil {
      return UnreadableList(remedy: given?.setup.map { "fetch the list again: \($0)" })
    }
    let (node, upload) = (jobs.plan.nodes[fetch.index], jobs.plan.nodes[id.index])
    guard node.manifest == upload.manifest, neededFetch(ofListOf: id, jobs, lister) == nil else {
      return UnreadableList(fetch: fetch)
    }
    return UnreadableList(
      fetch: fetch,
      remedy:
        "fetch '\(node.name)' stores this list. Add '\(node.name)' to the 'needs' of '\(upload.name)' to read the list "
        + "after this fetch")
  }

  /// Repeats the fetches of lists that cannot be read. Otherwise, the round could not end, and would not fetch the lists
  /// again.
  mutating func repeatFetchesOfLists(_ jobs: Jobs, _ listers: [Int: FileLister]) throws {
    var fetches: [NodeID] = []
    for (index, list) in unreadableLists {
      guard let fetch = list.fetch else { continue }
      let node = jobs.plan.nodes[fetch.index]
      if node.mayBeRepeated {
        fetches.append(fetch)
      } else if isSettled(fetch) {
        unreadableLists[index]?.remedy =
          "correct the list: fetch '\(node.name)' is not sent again in this round"
      }
    }
    for (index, start) in starts.enumerated() {
      guard case .notSelected = start, let lister = listers[index] else { continue }
      if let fetch = try unreadableFetch(ofListOf: NodeID(index), jobs, lister) { fetches.append(fetch) }
    }
    for fetch in fetches where isSettled(fetch) { starts[fetch.index] = .open }
  }

  /// The fetch of a list that only the shards need, if the list cannot be read.
  ///
  /// Otherwise, the work before the shards would not fetch the list again in this round.
  private func unreadableFetch(ofListOf id: NodeID, _ jobs: Jobs, _ lister: FileLister) throws -> NodeID? {
    guard case .setup = jobs.job(of: id).part, let fetch = fetch(ofListOf: id, jobs, lister),
      isSettled(fetch), jobs.plan.nodes[fetch.index].mayBeRepeated
    else { return nil }
    do {
      _ = try lister.list(nil, nil)
      return nil
    } catch let failure as ListingFailure {
      // The shards report that the root cannot be listed.
      return failure.root == nil ? fetch : nil
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

extension Node {
  /// Whether a fetch that has succeeded may be sent again in the same round. A POST must not be repeated, and a document
  /// under `return_cache_data_dont_load` is never requested.
  fileprivate var mayBeRepeated: Bool {
    guard case .fetch(let work) = work else { return false }
    return work.step.repeatability != .once && work.cachePolicy != .returnDoNotLoad
  }
}

extension Plan {
  /// Whether a node is one of the fetches.
  fileprivate func isFetch(_ id: NodeID, among fetches: Set<FileLister.ListFetch>) -> Bool {
    let node = nodes[id.index]
    return node.kind == .fetch
      && fetches.contains(.init(manifest: manifests[node.manifest.index], fetch: node.name))
  }
}
