import FerryJournal
import FerryManifest
import FerryPlan

/// The values that responses provided for later requests (captures of items, tokens and requests, and digests of
/// files), and the mask of every known secret.
///
/// A class because it is shared: requests are built from it, responses add to it, and the journal is written from it.
final class CaptureStore {
  private let plan: Plan
  private let runID: String
  /// By manifest.
  private let secrets: [[String: SensitiveValue]]
  private var items: ItemValueStore
  /// Captures of tokens and requests, by node.
  private var nodeCaptures: [Int: [CapturedValue]] = [:]
  private var tokenValues: [Int: [String: SensitiveValue]] = [:]
  /// By manifest and name.
  private var requestValues: [[String: [String: BoundValue]]]
  /// Upload IDs to be released.
  private var orphans: OrphanedUploadIndex
  private var holders = UploadIDHolders()

  /// - Parameter secrets: by manifest.
  init(_ plan: Plan, runID: String, secrets: [[String: SensitiveValue]], launchState: LaunchState) {
    self.plan = plan
    self.runID = runID
    self.secrets = secrets
    items = ItemValueStore(launchState.values, secrets: secrets.flatMap(\.values) + launchState.secrets)
    requestValues = launchState.requests
    orphans = OrphanedUploadIndex(plan)
    for (ref, values) in launchState.values where !values.allocate.isEmpty { hold(values.allocate, ref) }
    for (node, items) in launchState.ambiguousIDs {
      for captures in items {
        let known = ItemValues(journaled: captures, sha256: nil)
        if let id = uploadID(known.allocate, NodeID(node)) { holders.use(id) }
      }
    }
    for (node, rows) in launchState.orphans {
      for (index, row) in rows.enumerated() {
        let ref = ItemRef.orphan(index, of: NodeID(node))
        orphans.add(row, as: ref)
        items.update(ref) { $0 = ItemValues(journaled: row.captures, sha256: row.sha256) }
      }
    }
  }

  /// The text with every secret replaced by `***`.
  func masked(_ text: String) -> String { items.mask.mask(text) }

  // MARK: Items

  /// The values that responses provided for an item; empty if there are none.
  subscript(ref: ItemRef) -> ItemValues { items[ref] ?? ItemValues() }

  func keep(sha256: [UInt8], of ref: ItemRef) { items.update(ref) { $0.sha256 = sha256 } }

  /// Records which file was sent.
  func keep(inode: UInt64, root: FolderIdentity?, of ref: ItemRef) {
    items.update(ref) { ($0.inode, $0.root) = (inode, root) }
  }

  /// Forgets the values of an item that is closed or whose upload ID is gone.
  ///
  /// - Parameter isDelivered: whether the item was delivered with its upload ID.
  func forget(_ ref: ItemRef, isDelivered: Bool = false) {
    if isDelivered { holders.use(ref) } else { holders.drop(ref) }
    items.forget(ref)
  }

  private func hold(_ captures: [CapturedValue], _ ref: ItemRef) {
    if let id = uploadID(captures, ref.node) { holders.hold(id, ref) }
  }

  private func uploadID(_ captures: [CapturedValue], _ node: NodeID) -> UploadIDHolders.ID? {
    guard let values = orphans.identity(of: captures, node) else { return nil }
    let allocate = plan.nodes[node.index].steps.first { $0.kind == .allocate }
    return .init(origin: allocate?.origin?.description ?? "", values: values)
  }

  /// The captures of a token or request.
  func captures(of node: NodeID) -> [CapturedValue] { nodeCaptures[node.index] ?? [] }

  // MARK: Responses

  /// Keeps the captures of the response to an attempt.
  func keep(_ captures: [CapturedValue], of attempt: Attempt, _ step: Step) {
    let node = attempt.ref.node
    if attempt.ref.item == nil {
      for capture in captures where capture.isSecret { items.keepSecret(capture.value) }
    }
    switch step.kind {
    case .allocate:
      items.update(attempt.ref) { $0.allocate = captures }
      hold(captures, attempt.ref)
    case .transfer: items.update(attempt.ref) { $0.transfer = captures }
    case .token: keep(token: captures, of: node)
    case .request:
      nodeCaptures[node.index] = captures
      let known = plan.nodes[node.index]
      requestValues[known.manifest.index][known.name] = .init(captures)
    case .commit, .probe, .fetch, .abandon: break
    }
  }

  /// Keeps the captures of a token. All are sensitive; those that requests send as the token are also masked.
  private func keep(token captures: [CapturedValue], of node: NodeID) {
    tokenValues[node.index] = Dictionary(captures.map { ($0.name, SensitiveValue($0.value)) }) { $1 }
    guard case .token(let work) = plan.nodes[node.index].work else { return }
    for capture in captures where work.apply.value.references.contains(.token(capture.name)) {
      if !capture.isSecret { items.keepSecret(capture.value) }
    }
  }

  /// The captures as they may be journaled and shown. The user name and password of a URL are removed. A capture that
  /// contains a secret of the manifest, a token, or a secret capture of the same item or response becomes a secret
  /// itself.
  func guarded(_ captures: [CapturedValue], of ref: ItemRef) -> [CapturedValue] {
    let own = captures + (items[ref].map { $0.allocate + $0.transfer } ?? [])
    let mask = SecretMask(own.filter(\.isSecret).map(\.value))
    return captures.map { capture in
      var guarded = capture
      var url = URLReference(capture.value)
      if url.isHTTP, url.removeUserinfo() { guarded.value = url.description }
      if !capture.isSecret {
        guarded.isSecret =
          items.lasting.mask(guarded.value) != guarded.value || mask.mask(guarded.value) != guarded.value
      }
      return guarded
    }
  }

  // MARK: Requests

  /// The values of the references in an attempt's request.
  func bindings(for attempt: Attempt, _ step: Step, _ scheduler: Scheduler) -> Bindings {
    let manifest = plan.manifest(of: attempt.ref.node)
    var bindings = Bindings(secrets: secrets[manifest.index])
    if let token = step.token { bindings.token = tokenValues[token.index] ?? [:] }
    bindings.requests = requestValues[manifest.index]
    if let orphan = orphans[attempt.ref] {
      bindings.file = orphan.file
      bind(orphan.values, to: &bindings)
    } else if let item = attempt.ref.item {
      let known = items[attempt.ref]
      bindings.file = file(item, of: attempt.ref.node, sha256: known?.sha256, scheduler)
      if let known { bind(known, to: &bindings) }
    } else {
      bindings.run = .init(
        id: runID, done: scheduler.doneCount(of: manifest), failed: scheduler.failedCount(of: manifest),
        exitCode: Int(scheduler.exitCode(of: manifest).rawValue))
    }
    return bindings
  }

  /// The origins of an item's later steps, as far as the captures known so far determine them.
  func laterOrigins(of prepared: PreparedStep, _ ref: ItemRef) -> [Step.Kind: Origin] {
    guard !prepared.laterOrigins.isEmpty, let known = items[ref] else { return [:] }
    var bindings = Bindings(secrets: secrets[plan.manifest(of: ref.node).index])
    bind(known, to: &bindings)
    var origins: [Step.Kind: Origin] = [:]
    for later in prepared.laterOrigins {
      // A URL that needs a later capture is determined after a later step. A value that is not a URL fails when it is
      // sent.
      guard let url = (try? later.builder.build(bindings))?.url, let origin = Origin(url: url) else {
        continue
      }
      origins[later.kind] = origin
    }
    return origins
  }

  private func bind(_ known: ItemValues, to bindings: inout Bindings) {
    if !known.allocate.isEmpty { bindings.allocate = .init(known.allocate) }
    if !known.transfer.isEmpty { bindings.transfer = .init(known.transfer) }
  }

  private func file(
    _ item: Int, of node: NodeID, sha256: [UInt8]?, _ scheduler: Scheduler
  ) -> FileValues? {
    scheduler.withItems(of: node) { table in
      FileValues(
        path: Array(table.files.path(item)), size: table.files.sizes[item],
        modified: table.files.modified[item], sha256: sha256.map { Hexadecimal.text($0) })
    }
  }

  // MARK: Upload IDs to be released

  /// Records that the item's upload ID will not be used; it is released if the manifest specifies how.
  ///
  /// - Returns: whether another item has, or was delivered with, the same ID. In that case, the ID must not be
  ///   released.
  func orphan(_ ref: ItemRef, as orphan: ItemRef, _ scheduler: Scheduler) -> Bool {
    defer { keepForRelease(ref, as: orphan, scheduler) }
    return holders.drop(ref)
  }

  private func keepForRelease(_ ref: ItemRef, as orphan: ItemRef, _ scheduler: Scheduler) {
    guard let item = ref.item, let known = items[ref],
      let file = file(item, of: ref.node, sha256: known.sha256, scheduler),
      orphans.add(.init(file: file, values: known), as: orphan)
    else { return }
    items.update(orphan) { $0 = known }
  }

  func forget(orphan: ItemRef) {
    orphans.forget(orphan)
    items.forget(orphan)
  }

  /// The node's orphans whose upload ID the server has now allocated again, according to the captures of `allocate`.
  func regained(by captures: [CapturedValue], path: [UInt8], of node: NodeID) -> [Int] {
    orphans.regained(by: captures, path: path, of: node)
  }
}
