import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// Builds the request of each attempt.
///
/// This is a class, because the loop would copy a struct for each request.
final class RequestFactory {
  let jobs: Jobs
  private let plan: Plan
  let steps: PreparedSteps
  let captures: CaptureStore
  /// The listers with their open root folders, by upload node.
  private let listers: [Int: FileLister]
  /// The root folders that requests have used, by upload node.
  private var roots: [Int: SourceRoot] = [:]
  /// The rounds, by manifest.
  private let rounds: [Int64]
  /// Returns 64 random bits, for the boundaries of forms.
  var random: () -> UInt64
  /// Submitted files that do not exist, and the failure of each, by node and path.
  var absent: [Int: [[UInt8]: TransportFailure]] = [:]

  init(
    _ jobs: Jobs, steps: PreparedSteps, captures: CaptureStore, listers: [Int: FileLister], rounds: [Int64],
    random: @escaping () -> UInt64
  ) {
    self.random = random
    self.jobs = jobs
    self.rounds = rounds
    plan = jobs.plan
    self.steps = steps
    self.captures = captures
    self.listers = listers
  }

  /// The file whose digest the attempt's request needs; `nil` if no digest is needed, or if the digest is
  /// already known.
  func fileToHash(
    before attempt: Attempt, _ scheduler: Scheduler
  ) throws(TransportFailure) -> TransferRequest.FileSource? {
    let step = steps[attempt]
    guard
      step.needsDigest || (step.hashesBeforeSending && attempt.operation.isSending)
        || (attempt.operation == .whole && signsFile(attempt, step, scheduler)),
      absence(of: attempt.ref, scheduler) == nil, captures[attempt.ref].sha256 == nil
    else { return nil }
    return try source(of: attempt.ref, scheduler, wantsSHA256: false)
  }

  /// Whether the signature of an attempt covers the bytes of its file.
  func signsFile(_ attempt: Attempt, _ prepared: PreparedStep, _ scheduler: Scheduler) -> Bool {
    guard prepared.kind == .transfer, let sign = prepared.builder.sign else { return false }
    switch sign.payload {
    case .signed: return true
    case .unsigned: return false
    case nil:
      guard sign.service == "s3" else { return true }
      // In the usual case, the URL need not be built.
      if prepared.step.origin?.scheme == "https", captures.session(of: attempt.ref) == nil { return false }
      let bindings = captures.bindings(for: attempt, prepared, scheduler)
      // A URL that cannot be built fails when the request is built.
      let url = captures.session(of: attempt.ref)?.value ?? (try? prepared.builder.build(bindings).url)
      return url?.prefix(6).lowercased() != "https:"
    }
  }

  /// Builds the request of an attempt. Throws `request`, `capture`, `destination`, or a failure of the file
  /// to send.
  ///
  /// - Parameter digests: the digests of the part that `partToHash` returned.
  func request(
    for attempt: Attempt, _ scheduler: Scheduler, _ fetches: inout FetchCache, at now: Instant,
    part digests: PartDigests = [:]
  ) throws(TransportFailure) -> TransferRequest {
    // The file must exist only until it is transferred.
    if [.allocate, .transfer].contains(attempt.step), let failure = absence(of: attempt.ref, scheduler) {
      throw failure
    }
    guard attempt.ref.orphan == nil || captures.holds(orphan: attempt.ref) else {
      throw TransportFailure(
        .request,
        "a run releases upload IDs with at most \(ByteText.text(Int64(LaunchState.mostOrphanBytes))) together; the next run "
          + "releases this one", mayHaveReachedServer: false)
    }
    let prepared = steps[attempt]
    var bindings = captures.bindings(for: attempt, prepared, scheduler)
    if prepared.kind == .download { bindings.item = try listedValues(of: attempt.ref, scheduler) }
    if let chain = try prepared.builder.refreshChain(bindings) {
      bindings.refreshToken = try captures.refreshToken(of: chain, for: attempt)
    }
    let built = try prepared.builder.build(bindings)
    try checkServer(of: attempt, prepared, url: built.url, bindings)
    var request = TransferRequest(
      id: attempt.id, method: built.method, url: built.url, headers: built.headers, body: built.body,
      destination: .memory(limit: 1 << 20, isNeeded: prepared.needsBody),
      idleTimeout: prepared.idleTimeout, timeLimit: attempt.deadline.map { now.duration(to: $0) },
      byteLimit: attempt.byteLimit,
      atMostOnce: prepared.isSentOnce,
      sensitive: built.sensitive, redirects: prepared.redirects)
    request.bodyLimit = attempt.bodyLimit
    request.successfulRedirects = (prepared.step.expect.status + prepared.step.alreadyDone).filter {
      (300...399).contains($0)
    }
    if let limit = attempt.unwantedBodyLimit { request.unwantedBodyLimit = limit }
    if let credentials = built.clientCredentials { captures.keep(secret: credentials) }
    if let credentials = built.authentication?.basicCredentials(
      withPasswordShorterThan: SecretURLParts.shortest)
    {
      captures.keep(secret: credentials)
    }
    request.decodes = prepared.decodes
    request.connection = prepared.connection
    request.limits = prepared.limits
    request.authentication = built.authentication
    request.queryToken = built.queryToken
    // Use the key that the journal recorded with the intent, even if the manifest or the round has changed since.
    if prepared.kind == .commit, let key = captures[attempt.ref].commitKey {
      request.headers.removeAll { key.isIn($0.name) }
      request.headers.append(.init(name: key.header, value: key.value))
    }
    if prepared.kind == .request, let header = prepared.step.idempotencyHeader {
      let key = CommitKey(header: header, value: requestKey(of: attempt.ref.node, prepared.step))
      request.headers.removeAll { key.isIn($0.name) }
      request.headers.append(.init(name: key.header, value: key.value))
    }
    if prepared.kind == .abandon, let resource = captures.resourceToRelease(of: attempt.ref) {
      request.url = resource.value
    }
    if prepared.kind == .transfer {
      guard let source = try source(of: attempt.ref, scheduler, wantsSHA256: prepared.hashesAsSent) else {
        throw TransportFailure(.request, "the item has no file", mayHaveReachedServer: false)
      }
      if let parts = built.form {
        try setForm(parts, source, of: &request)
      } else {
        request.body = .file(source)
        if let machine = prepared.transferProtocol.machine {
          try setOperation(attempt, machine, source, digests, &request)
        }
      }
    } else {
      try setBody(built, of: attempt.ref.node, &request)
    }
    // The protocol may have replaced the URL by one that a response named, with a host for which the netrc file has
    // another entry.
    if prepared.builder.usesNetrc, request.url != built.url {
      request.authentication = try prepared.builder.authentication(bindings, url: request.url)
    }
    request.bodyCopies = attempt.bodyCopies
    if prepared.kind.storesDocument, let target = try target(of: attempt, scheduler) {
      request.checksum = built.checksum
      try prepare(target, prepared, attempt, &request)
      // An item of a download batch is requested only if it must be stored again.
      if case .fetch(let work) = plan.nodes[attempt.ref.node.index].work {
        fetches.addCondition(
          to: &request, of: attempt, work.cachePolicy, file: FileVersion(path: target.path))
      }
    }
    if !prepared.kind.storesDocument { Self.avoidCaches(&request, isSigned: built.signing != nil) }
    request.signing = signing(built, attempt, part: digests[.sha256], at: now)
    return request
  }

  /// Asks caches not to respond with a stored response, which may be older than the last change of the server's state
  /// (RFC 9111, section 5.2.1.4). A proxy that adds to the field would invalidate the signature of a signed request, to
  /// which caches do not respond anyway (section 3.5).
  private static func avoidCaches(_ request: inout TransferRequest, isSigned: Bool) {
    guard ["GET", "HEAD"].contains(request.method), !isSigned,
      !request.headers.contains(where: { $0.name.lowercased() == "cache-control" })
    else { return }
    request.headers.append(.init(name: "Cache-Control", value: "no-cache"))
  }

  /// The signature of a request, with the digest of its file.
  private func signing(
    _ built: BuiltRequest, _ attempt: Attempt, part digest: [UInt8]?, at now: Instant
  ) -> AWSSigning? {
    guard var signing = built.signing else { return nil }
    signing.date = now
    if case .signed = signing.payload, attempt.step == .transfer {
      signing.payload = .signed(file: attempt.operation == .whole ? captures[attempt.ref].sha256 : digest)
    }
    return signing
  }

  /// The key of a single request: one value for each round.
  private func requestKey(of node: NodeID, _ step: Step) -> String {
    let (manifest, name) = (plan.manifest(of: node), plan.nodes[node.index].name)
    return IdempotencyKey(
      manifest: plan.manifests[manifest.index], upload: name, origin: step.origin?.description ?? "",
      path: [],
      size: 0, modified: 0, round: rounds[manifest.index]
    ).text
  }

  /// Records the servers to which the first step of an item and the later steps are sent, and rejects a later step
  /// whose captures now lead to another server.
  private func checkServer(
    of attempt: Attempt, _ prepared: PreparedStep, url: String, _ bindings: Bindings
  ) throws(TransportFailure) {
    guard prepared.boundSteps.isEmpty else {
      let later = prepared.boundSteps.map { base in
        // The URL cannot be built until the token has been fetched.
        let url = try? base.builder.build(bindings).url
        return (base.step, url.map { base.server(of: $0, masked: captures.maskedOrigin) })
      }
      let first =
        prepared.serverBase?.server(of: url, masked: captures.maskedOrigin) ?? Origin(url: url)?.description
        ?? ""
      return captures.keep(servers: BoundServers(first: first, later: later), of: attempt.ref)
    }
    guard let base = prepared.serverBase, !prepared.isFirst else { return }
    let server = base.server(of: url, masked: captures.maskedOrigin)
    let known = captures[attempt.ref]
    guard known.servers?.allows(base.step, at: server) != true else { return }
    let what = known.allocate.isEmpty ? "its file was sent" : "its upload ID belongs"
    let now = BoundServers.shown(server) ?? "another server"
    throw TransportFailure(
      .otherServer,
      known.servers.map { servers in
        "\(what) to \(servers.shown(base.step) ?? "one server"), and its \(base.step.rawValue) would go to \(now)"
      } ?? "the journal does not record which server \(what) to, because an older version of ferry wrote it",
      mayHaveReachedServer: false)
  }

  func absence(of ref: ItemRef, _ scheduler: Scheduler) -> TransportFailure? {
    guard let absent = absent[ref.node.index], let path = scheduler.path(of: ref) else { return nil }
    return absent[Array(path)]
  }

  /// The file in which the document of an attempt is stored; `nil` if the response is not stored.
  private func target(
    of attempt: Attempt, _ scheduler: Scheduler
  ) throws(TransportFailure) -> DocumentTarget? {
    let node = attempt.ref.node
    let folder = jobs.job(of: node).folder
    switch plan.nodes[node.index].work {
    case .token, .request: return nil
    case .fetch(let work): return DocumentTarget(work.saveTo, in: folder, work.document, links: .followed)
    case .upload(let work):
      guard let document = work.download, let path = scheduler.path(of: attempt.ref) else { return nil }
      guard let name = String(validating: path, as: UTF8.self) else {
        throw TransportFailure(.destination, "the path is not UTF-8", mayHaveReachedServer: false)
      }
      var target = DocumentTarget(name, in: folder, document, links: .refused)
      target.size = scheduler.documentSize(of: attempt.ref)
      return target
    }
  }

  /// The values of `${item.…}`. Throws `sourceMissing` if the list no longer contains the item.
  private func listedValues(
    of ref: ItemRef, _ scheduler: Scheduler
  ) throws(TransportFailure) -> [String: String] {
    guard let path = scheduler.path(of: ref), let values = listers[ref.node.index]?.listed?.values(of: path)
    else {
      throw TransportFailure(
        .sourceMissing, "the list no longer contains this file", mayHaveReachedServer: false)
    }
    return values
  }

  /// Prepares the storage of a response's document.
  private func prepare(
    _ target: DocumentTarget, _ prepared: PreparedStep, _ attempt: Attempt, _ request: inout TransferRequest
  ) throws(TransportFailure) {
    let node = attempt.ref.node
    let (step, expect) = (prepared.step, prepared.step.expect)
    request.sizeLimit = [target.document.maxSize, target.size].compactMap(\.self).min()
    request.exactSize = target.size
    request.keepsModified = target.document.keepsModified
    let statuses = (expect.status.isEmpty ? [200] : expect.status).filter {
      step.content(of: $0) == .document
    }
    request.destination = .file(path: target.path, statuses: statuses)
    if expect.readsAnswer {
      let patterns = prepared.patterns
      request.check = .init(readsBody: !expect.json.isEmpty || expect.regex != nil) { answer in
        ExpectationCheck.mismatch(expect, answer, patterns)?.message
      }
    }
    if try target.folder.exists() {
      // Check first: a 304 would report another user's file as unchanged.
      if let refusal = ReplacedFile.refusal(target.path) {
        throw TransportFailure(.destination, "\(target.name): \(refusal)", mayHaveReachedServer: false)
      }
    } else {
      request.missingFolder = target.folder
    }
    if request.method == "GET", expect.headers.isEmpty, !FetchCondition.isWritten(in: request),
      !request.headers.contains(where: { $0.name.lowercased() == "range" }),
      step.request.checksum?.header?.coversWholeDocument != false
    {
      request.partOwner = FetchPart.owner(
        session: plan.sessions[step.session.index].identifier,
        manifest: plan.manifests[plan.manifest(of: node).index], node: plan.nodes[node.index].name)
      request.connections = attempt.connections
    }
  }

  func source(
    of ref: ItemRef, _ scheduler: Scheduler, wantsSHA256: Bool
  ) throws(TransportFailure) -> TransferRequest.FileSource? {
    guard let file = scheduler.listedFile(of: ref), let root = try root(of: ref.node) else { return nil }
    return TransferRequest.FileSource(
      root: root, path: Array(file.path), size: file.size, modified: file.modified, identity: file.identity,
      wantsSHA256: wantsSHA256)
  }

  /// The open root folder of an upload; `nil` for nodes without files.
  private func root(of node: NodeID) throws(TransportFailure) -> SourceRoot? {
    if let known = roots[node.index] { return known }
    guard let lister = listers[node.index] else { return nil }
    do throws(ListingFailure) {
      let root = try lister.folder()
      roots[node.index] = root
      return root
    } catch {
      throw TransportFailure(.sourceMissing, "\(error)", mayHaveReachedServer: false)
    }
  }
}
