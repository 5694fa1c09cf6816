import FerryDigest
import FerryJournal
import FerryManifest
import FerryPlan

/// The values from responses for later requests (captures of items, tokens and requests, and digests of
/// files), and the mask of every known secret.
///
/// This is a class because it is shared: requests are built from it, responses add to it, and the journal is
/// written from it.
final class CaptureStore {
  private(set) var plan: Plan
  private let runID: String
  /// The values of `${run.…}` after the run's work has ended, by manifest; `nil` while the work is in
  /// progress.
  private let runs: [Bindings.RunValues]?
  /// The values of secrets, by manifest.
  private var secrets: [[String: SensitiveValue]]
  /// The sequences of filters that a secret may pass through.
  private var filters: Set<[ReferenceFilter]>
  let items: ItemValueStore
  /// Captures of tokens and requests, by node.
  private var nodeCaptures: [Int: [CapturedValue]] = [:]
  private var tokenValues: [Int: [String: SensitiveValue]] = [:]
  /// The captures of requests, by manifest and name.
  private var requestValues: [[String: [String: BoundValue]]]
  /// Upload IDs to release.
  private var orphans: OrphanedUploadIndex
  /// The size of the captures in `orphans`.
  private var orphanBytes = 0
  private var uses: UploadIDUses
  var resources = UploadResources()
  /// The checksums that the requests in progress have sent, by attempt.
  private var sentChecksums: [UInt64: String] = [:]
  /// Orphans whose IDs another upload may use. They are not released.
  private var inDoubt: Set<ItemRef> = []
  private var orphansAside: OrphansAside
  private var issuedAgain: [OrphansAside.Orphan] = []
  /// The journal of refresh tokens; `nil` if no token has a refresh token.
  var refreshTokens: RefreshTokens?
  /// The refresh tokens sent by the requests in progress, by attempt.
  var refreshes: [UInt64: (chain: RefreshChain, sent: SensitiveValue)] = [:]
  /// The failure to read or write the journal of refresh tokens, which stops the run.
  var journalFault: JournalError?

  /// - Parameters:
  ///   - secrets: the values of secrets, by manifest.
  ///   - filters: the sequences of filters that a secret may pass through in any of the manifests.
  ///   - runs: the values of `${run.…}`, by manifest, if the run's work has ended.
  ///   - work: the values of that work, whose secrets are masked too; `nil` if there are none.
  init(
    _ plan: Plan, runID: String, secrets: [[String: SensitiveValue]], filters: Set<[ReferenceFilter]>,
    launchState: LaunchState, after runs: [Bindings.RunValues]? = nil, of work: CaptureStore? = nil
  ) {
    self.runs = runs
    self.plan = plan
    self.runID = runID
    self.secrets = secrets
    self.filters = filters
    items = ItemValueStore(
      launchState.values, secrets: secrets.flatMap(AWSValue.confidential) + launchState.secrets,
      filters: filters, after: work?.items)
    requestValues = launchState.requests
    orphans = OrphanedUploadIndex(plan)
    uses = launchState.uploadIDUses
    orphansAside = launchState.orphansAside
    for (node, rows) in launchState.orphans {
      for (index, row) in rows.enumerated() {
        let ref = ItemRef.orphan(index, of: NodeID(node))
        orphans.add(row, as: ref)
        orphanBytes += row.captures.size
        items.update(ref) { $0 = ItemValues(row) }
      }
    }
  }

  /// Adds the manifests that have joined the launch. Their uploads have no items yet, and do not release
  /// upload IDs.
  ///
  /// - Parameters:
  ///   - plan: the launch's plan, combined with the plans of these manifests.
  ///   - more: the secrets of these manifests, by manifest.
  func join(_ plan: Plan, secrets more: [[String: SensitiveValue]], filters all: Set<[ReferenceFilter]>) {
    self.plan = plan
    secrets += more
    requestValues += more.map { _ in [:] }
    filters = all
    items.add(filters: all)
    for secret in more.flatMap(AWSValue.confidential) { items.keepSecret(secret.revealed) }
  }

  /// The text with every secret replaced by `***`.
  func masked(_ text: String) -> String { items.masked(text) }

  /// The text with every secret and some more texts replaced by `***`.
  func masked(_ text: String, hiding more: [[UInt8]]) -> String { items.masked(text, hiding: more) }

  /// Masks a value until the run ends.
  func keep(secret: String) {
    if !items.lasting.contains(secret) { items.keepSecret(secret) }
  }

  /// Masks a secret that an attempt to fetch a token has sent or received.
  func keep(tokenSecret secret: String, of attempt: Attempt) {
    items.keepSecret(secret, ofToken: attempt.ref.node.index)
  }

  /// The origin of a server with every secret that is in use replaced by `***`. Retired secrets are ignored,
  /// because the journaled form of a server must not depend on which other items have ended in the same run.
  func maskedOrigin(_ origin: String) -> String { items.maskedInUse(origin) }

  /// The first bytes of a string that a server chose, with secrets masked. Bytes that cannot be masked are
  /// omitted.
  ///
  /// - Parameter more: texts that are masked too.
  func maskedBeginning(_ count: Int, of bytes: [UInt8], isCut: Bool, hiding more: [[UInt8]]) -> [UInt8] {
    items.maskedBeginning(count, of: bytes, isCut: isCut, hiding: more)
  }

  // MARK: Items

  /// The values that responses provided for an item; empty if there are none.
  subscript(ref: ItemRef) -> ItemValues { items[ref] ?? ItemValues() }

  func keep(sha256: [UInt8], of ref: ItemRef) { items.update(ref) { $0.sha256 = sha256 } }

  /// Records the identity of the sent file.
  func keep(inode: UInt64, root: FolderIdentity?, of ref: ItemRef) {
    items.update(ref) { ($0.inode, $0.root) = (inode, root) }
  }

  /// Records the servers to which the item's first and later steps are sent.
  func keep(servers: BoundServers, of ref: ItemRef) {
    items.update(ref) { values in
      // Uses of an upload ID are counted per server, so move this use to the new servers.
      uses.drop(&values, of: ref.node)
      values.servers = servers
      uses.hold(&values, of: ref.node)
    }
  }

  /// Records the server to which the item's last request was redirected; `nil` if it was not redirected.
  func keep(redirectedTo url: String?, of ref: ItemRef) {
    // The server chooses the redirect target, and its host may contain a secret.
    let server = url.flatMap { Origin(url: $0)?.description }.flatMap { masked($0) == $0 ? $0 : nil }
    guard server != nil || items[ref]?.redirectedTo != nil else { return }
    items.update(ref) { $0.redirectedTo = server }
  }

  /// The checksum of the bytes of an attempt's request, in Base64; `nil` if the request has none.
  func sentChecksum(of attempt: UInt64) -> String? { sentChecksums[attempt] }

  func keep(sentChecksum: String?, of attempt: UInt64) {
    if sentChecksum != nil || !sentChecksums.isEmpty { sentChecksums[attempt] = sentChecksum }
  }

  /// The parts of the item's file that the server has confirmed.
  func parts(of ref: ItemRef) -> PartTags { items.parts(of: ref) }

  func keep(part number: Int, _ tag: PartTags.Tag, of ref: ItemRef) {
    items.keep(part: number, tag, of: ref)
  }

  /// The part that an S3 server has listed, and that may differ from that of the file; `nil` if it has listed none.
  func listedPart(_ number: Int, of ref: ItemRef) -> PartTags.Tag? {
    items.listedParts(of: ref)?.tags[number]
  }

  func keep(listedPart number: Int, _ tag: PartTags.Tag, of ref: ItemRef) {
    items.keep(listedPart: number, tag, of: ref)
  }

  /// Records the idempotency key that is journaled with the intent of the item's commit.
  func keep(commitKey: CommitKey?, of ref: ItemRef) { items.update(ref) { $0.commitKey = commitKey } }

  /// Removes the values of an item that is closed or no longer has its upload ID.
  ///
  /// - Parameters:
  ///   - isDelivered: whether the item was delivered with its upload ID, or may have been.
  ///   - keepsSecrets: whether the item's secrets are masked until the run ends.
  /// - Returns: whether another item may have the same upload ID.
  @discardableResult
  func forget(_ ref: ItemRef, isDelivered: Bool = false, keepsSecrets: Bool = false) -> Bool {
    resources.drop(ref, isUsed: isDelivered)
    guard var values = items[ref] else { return false }
    uses.drop(&values, of: ref.node)
    items.forget(ref, keepsSecrets: keepsSecrets)
    guard isDelivered else { return false }
    defer { uses.use(values, of: ref.node) }
    return uses.isShared(values, identity: orphans.identity(of: values, ref.node), of: ref.node)
  }

  /// The captures of a token or request.
  func captures(of node: NodeID) -> [CapturedValue] { nodeCaptures[node.index] ?? [] }

  // MARK: Responses

  /// Keeps the captures of the response to an attempt.
  func keep(_ captures: [CapturedValue], of attempt: Attempt, _ step: Step) {
    let node = attempt.ref.node
    if attempt.ref.item == nil, step.kind != .token {
      for capture in captures where capture.isSecret { items.keepSecret(capture.value) }
    }
    switch step.kind {
    case .allocate: updateCaptures(of: attempt.ref) { $0.allocate = captures }
    case .transfer: updateCaptures(of: attempt.ref) { $0.transfer = captures }
    case .token: keep(token: captures, of: node)
    case .request:
      nodeCaptures[node.index] = captures
      let known = plan.nodes[node.index]
      requestValues[known.manifest.index][known.name] = .init(captures)
    case .commit, .probe, .fetch, .download, .abandon: break
    }
  }

  func updateCaptures(of ref: ItemRef, _ body: (inout ItemValues) -> Void) {
    items.update(ref) { values in
      uses.drop(&values, of: ref.node)
      body(&values)
      uses.hold(&values, of: ref.node)
      issuedAgain += orphansAside.take(values)
    }
  }

  /// Returns the orphans that this launch does not release and whose IDs an item has received since the last
  /// call.
  func takeIssuedAgain() -> [OrphansAside.Orphan] {
    defer { issuedAgain = [] }
    return issuedAgain
  }

  /// Keeps the captures of a token. All are sensitive; captures that requests send as the token are also
  /// masked.
  private func keep(token captures: [CapturedValue], of node: NodeID) {
    tokenValues[node.index] = Dictionary(captures.map { ($0.name, SensitiveValue($0.value)) }) { $1 }
    guard case .token(let work) = plan.nodes[node.index].work else { return }
    for capture in captures
    where capture.isSecret || work.apply.value.references.contains(.token(capture.name)) {
      items.keepSecret(capture.value, ofToken: node.index)
    }
  }

  /// The captures in the form in which they may be journaled and shown. The user name and password of a URL
  /// are removed. A capture that contains a secret of the manifest, a token, or a secret capture of the same
  /// item or response is also treated as secret.
  func guarded(_ captures: [CapturedValue], of ref: ItemRef) -> [CapturedValue] {
    let longest = captures.filter { !$0.isSecret }.map(\.value.utf8.count).max() ?? 0
    let own = captures + (items[ref].map { $0.allocate + $0.transfer } ?? [])
    let secrets = own.filter { $0.isSecret && items.lasting.mayOccur($0.value.utf8.count, in: longest) }
    // In the usual case, there are none.
    let mask = secrets.isEmpty ? nil : SecretMask(secrets.map(\.value), filters: filters)
    return captures.map { capture in
      var guarded = capture
      if capture.value.utf8.contains(UInt8(ascii: "@")) {
        var url = URLReference(capture.value)
        if url.isHTTP, url.removeUserinfo() { guarded.value = url.description }
      }
      if !capture.isSecret {
        guarded.isSecret =
          items.lasting.mask(guarded.value, .wholeSecrets) != guarded.value
          || mask.map { $0.mask(guarded.value, .wholeSecretsInUse) != guarded.value } ?? false
      }
      return guarded
    }
  }

  // MARK: Requests

  /// The values of the references in an attempt's request.
  func bindings(for attempt: Attempt, _ prepared: PreparedStep, _ scheduler: Scheduler) -> Bindings {
    let manifest = plan.nodes[attempt.ref.node.index].manifest
    var bindings = Bindings(secrets: secrets[manifest.index])
    if let token = prepared.token { bindings.token = tokenValues[token.index] ?? [:] }
    bindings.requests = requestValues[manifest.index]
    if let orphan = orphans[attempt.ref] {
      bindings.file = orphan.file
      bind(orphan.values, to: &bindings)
    } else if let item = attempt.ref.item {
      let known = items[attempt.ref]
      bindings.file = file(item, of: attempt.ref.node, sha256: known?.sha256, scheduler)
      if let known { bind(known, to: &bindings) }
    } else {
      bindings.run =
        runs?[manifest.index]
        ?? .init(
          id: runID, done: scheduler.doneCount(of: manifest), failed: scheduler.failedCount(of: manifest),
          exitCode: scheduler.exitCode(of: manifest))
    }
    return bindings
  }

  /// The origins of an item's later steps, as far as the current captures determine them.
  func laterOrigins(of prepared: PreparedStep, _ ref: ItemRef) -> [Step.Kind: Origin] {
    guard !prepared.laterOrigins.isEmpty, let known = items[ref] else { return [:] }
    var bindings = Bindings(secrets: secrets[plan.manifest(of: ref.node).index])
    bind(known, to: &bindings)
    var origins: [Step.Kind: Origin] = [:]
    for later in prepared.laterOrigins {
      // If the URL needs a capture that is not available yet, it is resolved after a later step. A capture
      // that is not a URL fails when the request is sent.
      guard let url = (try? later.builder.build(bindings))?.url else { continue }
      origins[later.kind] = Origin(url: url) ?? Origin(unrecognized: url)
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
    scheduler.listedFile(of: ItemRef(node, item)).map { file in
      FileValues(
        path: Array(file.path), size: file.size, modified: file.modified,
        sha256: sha256.map { Hexadecimal.text($0) })
    }
  }

  // MARK: Upload IDs to release

  /// Records that the item's upload ID will not be used. The ID is released if the manifest specifies a release
  /// request.
  ///
  /// - Parameters:
  ///   - isInDoubt: whether the server may have used the ID for the item.
  ///   - place: the orphan's place in the journals.
  /// - Returns: whether another item has the same ID, or was delivered with it. In that case, the ID must
  ///   not be released.
  func orphan(
    _ ref: ItemRef, as orphan: ItemRef, isInDoubt: Bool, at place: OrphansAside.Orphan? = nil,
    _ scheduler: Scheduler
  ) -> Bool {
    resources.drop(ref, isUsed: isInDoubt)
    guard var values = items[ref] else { return false }
    uses.drop(&values, of: ref.node)
    items.update(ref) { $0 = values }
    items.keepSecrets(of: ref)
    if isInDoubt {
      uses.use(values, of: ref.node)
      return false
    }
    let size = values.allocate.size + values.transfer.size
    guard let item = ref.item, orphanBytes + size <= LaunchState.mostOrphanBytes,
      let file = file(item, of: ref.node, sha256: values.sha256, scheduler),
      orphans.add(.init(file: file, values: values), as: orphan)
    else {
      guard let place else { return false }
      // A later run may release the upload ID.
      let known = orphans.identity(of: values, ref.node)
      let isInUse =
        known.isEmpty ? uses.isAnyInUse(values) : uses.sharing(known, of: ref.node, values.servers) != .none
      if isInUse { issuedAgain.append(place) } else { orphansAside.add(values, known, at: place) }
      return false
    }
    orphanBytes += size
    items.update(orphan) { $0 = values }
    switch uses.sharing(orphans.identity(of: values, ref.node), of: ref.node, values.servers) {
    case .none: return false
    case .sameUpload: return true
    case .otherUpload:
      inDoubt.insert(orphan)
      return true
    }
  }

  /// Whether this launch can release an orphan. It holds only orphans up to a total size (`LaunchState.mostOrphanBytes`).
  func holds(orphan: ItemRef) -> Bool { orphans[orphan] != nil }

  /// Removes an orphan that must not be released. Returns whether the orphan is in doubt because another upload may
  /// use its ID.
  func forget(orphan: ItemRef) -> Bool {
    if let values = orphans[orphan]?.values { orphanBytes -= values.allocate.size + values.transfer.size }
    orphans.forget(orphan)
    items.forget(orphan)
    return inDoubt.remove(orphan) != nil
  }

  /// The orphans whose upload ID an item has received.
  ///
  /// - Parameter path: the bytes of the path of the item's file.
  func regained(by ref: ItemRef, path: [UInt8]) -> [ItemRef] {
    guard let values = items[ref] else { return [] }
    let regained = orphans.regained(by: values, path: path, of: ref.node)
    // The same ID at another server belongs to a different upload.
    inDoubt.formUnion(
      regained.filter { $0.node != ref.node || orphans.servers(of: $0) != values.servers })
    return regained
  }
}
