import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// Builds each attempt's request and reads its answer; keeps what answers gave for later requests.
final class Exchanges {
  private let jobs: Jobs
  private let plan: Plan
  private let runID: String
  /// By manifest.
  private let rounds: [Int64]
  /// By manifest.
  private let secrets: [[String: SensitiveValue]]
  /// By node: its steps with all that can be prepared once.
  private let steps: [[PreparedStep]]
  /// By upload node: what has its root open.
  private let listers: [Int: FileLister]
  /// By node: whether it is looked at again which file was sent.
  private let keepsInodes: [Bool]
  /// By node: which folders the roots are, where files are put away.
  private let rootIdentities: [Int: FolderIdentity]
  private var flights: [UInt64: Attempt] = [:]
  /// Of the fetches among them.
  private var conditions: [UInt64: FetchCondition] = [:]
  private var values: KnownValues
  /// Captures of tokens and requests, by node.
  private var nodeCaptures: [Int: [CapturedValue]] = [:]
  private var tokenValues: [Int: [String: SensitiveValue]] = [:]
  /// By manifest and name.
  private var requestValues: [[String: [String: BoundValue]]]
  /// The last validators of each fetch, and those of its newest answer.
  private var fetchRecords: [Int: FetchRecord]
  /// Upload IDs that are to be released.
  private var orphans: OrphanBook
  /// By node and path: submitted files that are not there, and why each fails.
  var absent: [Int: [[UInt8]: TransportFailure]]

  /// A step with all that is the same for every attempt at it.
  private struct PreparedStep {
    var step: Step
    var builder: RequestBuilder
    var redirects: TransferRequest.Redirects
    /// The regular expressions of `expect` and `capture`.
    var patterns: Patterns
    /// Whether its request needs the file's digest before it is sent.
    var needsDigest: Bool
    /// Whether its file is hashed as it is sent.
    var hashesAsSent: Bool
    /// Later steps of the item whose host only the captures tell.
    var roaming: [PreparedOrigin]

    /// Whether the body of a response of this status is read for `expect` and `capture` once the response is complete.
    func isRead(_ status: Int) -> Bool {
      guard step.kind == .fetch else { return step.expects(status: status) }
      // A document is checked before it takes its file's place.
      return step.content(of: status) == .nothing && status != 204 && status != 205
    }

    struct PreparedOrigin {
      var kind: Step.Kind
      var builder: RequestBuilder
    }
  }

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - secrets: likewise.
  init(
    jobs: Jobs, runID: String, rounds: [Int64], secrets: [[String: SensitiveValue]], situation: Situation,
    listers: [Int: FileLister], rootIdentities: [Int: FolderIdentity]
  ) {
    self.jobs = jobs
    plan = jobs.plan
    self.runID = runID
    self.rounds = rounds
    self.secrets = secrets
    self.listers = listers
    self.rootIdentities = rootIdentities
    keepsInodes = jobs.plan.nodes.map { $0.after != .keep }
    values = KnownValues(situation.values, secrets: secrets.flatMap(\.values) + situation.secrets)
    absent = situation.absent
    requestValues = situation.requests
    fetchRecords = [:]
    for (index, row) in situation.rows.enumerated() {
      if let record = row?.fetch { fetchRecords[index] = record }
    }
    orphans = OrphanBook(jobs.plan)
    for (node, rows) in situation.orphans {
      for (index, row) in rows.enumerated() {
        let place = Place.orphan(index, of: NodeID(node))
        orphans.add(row, as: place)
        values.update(place) { $0 = ItemValues(journaled: row.captures, sha256: row.sha256) }
      }
    }
    let origins = jobs.all.enumerated().map { ManifestOrigins($1.plan, secrets: secrets[$0]) }
    steps = jobs.plan.nodes.enumerated().map { place, node in
      let own = (node: jobs.own(NodeID(place)), plan: jobs.job(of: NodeID(place)).plan)
      let ownOrigins = origins[node.manifest.index]
      let refersToDigest = node.steps.map { $0.request.references.contains(.file(.sha256)) }
      let comparesContent = node.comparesContent
      return node.steps.enumerated().map { index, step in
        let later = node.steps[(index + 1)...]
        return PreparedStep(
          step: step,
          builder: Self.builder(
            own.node.steps[index], of: jobs.ownIndex(NodeID(place)), in: own.plan, ownOrigins),
          redirects: .init(own.plan.sessions[own.node.steps[index].session.index].redirects),
          patterns: Patterns(step.capture, step.expect),
          needsDigest: refersToDigest[index],
          hashesAsSent: step.kind == .transfer
            && (comparesContent || refersToDigest[(index + 1)...].contains(true)),
          roaming: later.filter { $0.origin == nil }.map {
            // The capture at the beginning of the URL tells the host.
            let start = Template(Array($0.request.url.segments.prefix(1)))
            return .init(kind: $0.kind, builder: RequestBuilder(RequestTemplate(url: start)))
          })
      }
    }
  }

  /// - Parameter plan: of the step's own manifest, whose header fields the session has.
  private static func builder(
    _ step: Step, of node: Int, in plan: Plan, _ origins: ManifestOrigins
  ) -> RequestBuilder {
    let apply: RequestTemplate.Field? =
      if let token = step.token, case .token(let work) = plan.nodes[token.index].work { work.apply } else {
        nil
      }
    return RequestBuilder(
      step.request, sessionHeaders: plan.sessions[step.session.index].headers, apply: apply,
      isURLCaptured: origins.isCaptured(step), known: origins.known(to: step, of: node))
  }

  private func prepared(_ attempt: Attempt) -> PreparedStep {
    let steps = steps[attempt.place.node.index]
    guard let step = steps.first(where: { $0.step.kind == attempt.step }) else {
      preconditionFailure("an attempt is at a step of its node")
    }
    return step
  }

  // MARK: Requests

  /// The file whose digest the attempt's request needs, where it is not known yet.
  func fileToHash(
    before attempt: Attempt, _ scheduler: Scheduler
  ) throws(TransportFailure) -> TransferRequest.FileSource? {
    guard prepared(attempt).needsDigest, absence(of: attempt.place, scheduler) == nil,
      values[attempt.place]?.sha256 == nil
    else { return nil }
    return try source(of: attempt.place, scheduler, wantsSHA256: false)
  }

  func keep(sha256: [UInt8], of place: Place) { values.update(place) { $0.sha256 = sha256 } }

  func request(
    for attempt: Attempt, _ scheduler: Scheduler, at now: Instant
  ) throws(TransportFailure) -> TransferRequest {
    if let failure = absence(of: attempt.place, scheduler) { throw failure }
    let prepared = prepared(attempt)
    let step = prepared.step
    flights[attempt.id] = attempt
    let built = try prepared.builder.build(bindings(attempt, step, scheduler))
    let session = plan.sessions[step.session.index]
    var request = TransferRequest(
      id: attempt.id, method: built.method, url: built.url, headers: built.headers, body: built.body,
      destination: .memory(limit: 1 << 20, isNeeded: !step.capture.isEmpty || step.expect.readsAnswer),
      idleTimeout: session.timeoutForRequest, timeLimit: attempt.deadline.map { now.duration(to: $0) },
      byteLimit: attempt.byteLimit, atMostOnce: step.repeatability != .repeatable,
      sensitive: built.sensitive, redirects: prepared.redirects)
    if let name = step.idempotencyHeader, let key = idempotencyKey(of: attempt.place, scheduler) {
      request.headers.removeAll { $0.name.lowercased() == name.lowercased() }
      request.headers.append(.init(name: name, value: key.text))
    }
    if step.kind == .transfer {
      guard let source = try source(of: attempt.place, scheduler, wantsSHA256: prepared.hashesAsSent) else {
        throw TransportFailure(.request, "the item has no file", mayHaveReachedServer: false)
      }
      request.body = .file(source)
    }
    if case .fetch(let work) = plan.nodes[attempt.place.node.index].work {
      try prepareFetch(work, prepared.patterns, attempt, &request)
    }
    return request
  }

  private func absence(of place: Place, _ scheduler: Scheduler) -> TransportFailure? {
    guard let absent = absent[place.node.index], let path = scheduler.path(of: place) else { return nil }
    return absent[Array(path)]
  }

  private func prepareFetch(
    _ work: FetchWork, _ patterns: Patterns, _ attempt: Attempt, _ request: inout TransferRequest
  ) throws(TransportFailure) {
    let node = attempt.place.node
    let path = jobs.job(of: node).folder + "/" + work.saveTo
    request.sizeLimit = work.maxSize
    let (step, expect) = (work.step, work.step.expect)
    let statuses = (expect.status.isEmpty ? [200] : expect.status).filter {
      step.content(of: $0) == .document
    }
    request.destination = .file(path: path, statuses: statuses)
    if expect.readsAnswer {
      request.check = .init(readsBody: !expect.json.isEmpty || expect.regex != nil) { answer in
        ExpectationCheck.mismatch(expect, answer, patterns)?.message
      }
    }
    let folder = Array(URL(fileURLWithPath: path).deletingLastPathComponent().path.utf8)
    do throws(FolderPath.Failure) {
      close(try FolderPath.descriptor(of: folder, trusting: .ownEntries, creating: true))
    } catch {
      throw TransportFailure(
        .destination, "the folder of \(work.saveTo) cannot be used: \(error.reason)",
        mayHaveReachedServer: false)
    }
    // Validators of a file that is gone would leave it gone (RFC 9110 §13.1).
    let isThere = !attempt.isUnconditional && FileManager.default.fileExists(atPath: path)
    let condition = FetchCondition(request, isThere ? fetchRecords[node.index] : nil)
    if let header = condition.header { request.headers.append(header) }
    conditions[attempt.id] = condition
  }

  private func idempotencyKey(of place: Place, _ scheduler: Scheduler) -> IdempotencyKey? {
    let node = plan.nodes[place.node.index]
    guard let item = place.item, case .upload(let work) = node.work else { return nil }
    let captures = values[place]?.allocate ?? []
    let isOfRound = work.deliver == .everyRun && work.allocate == nil
    return scheduler.withItems(of: place.node) { table in
      IdempotencyKey(
        manifest: plan.manifests[node.manifest.index], upload: node.name,
        origin: work.first.origin?.description ?? "", path: Array(table.files.path(item)),
        size: table.files.sizes[item], modified: table.files.modified[item], captures: captures,
        sha256: work.comparesContent ? values[place]?.sha256 : nil,
        round: isOfRound ? rounds[node.manifest.index] : nil)
    }
  }

  private func source(
    of place: Place, _ scheduler: Scheduler, wantsSHA256: Bool
  ) throws(TransportFailure) -> TransferRequest.FileSource? {
    guard let item = place.item, let lister = listers[place.node.index] else { return nil }
    let root: SourceRoot
    do throws(ListingFailure) {
      root = try lister.folder()
    } catch {
      throw TransportFailure(.sourceMissing, "\(error)", mayHaveReachedServer: false)
    }
    return scheduler.withItems(of: place.node) { table in
      TransferRequest.FileSource(
        root: root, path: Array(table.files.path(item)), size: table.files.sizes[item],
        modified: table.files.modified[item], identity: table.files.identities[item], wantsSHA256: wantsSHA256
      )
    }
  }

  private func bindings(_ attempt: Attempt, _ step: Step, _ scheduler: Scheduler) -> Bindings {
    let manifest = plan.manifest(of: attempt.place.node)
    var bindings = Bindings(secrets: secrets[manifest.index])
    if let token = step.token { bindings.token = tokenValues[token.index] ?? [:] }
    bindings.requests = requestValues[manifest.index]
    if let orphan = orphans[attempt.place] {
      bindings.file = orphan.file
      bind(orphan.values, to: &bindings)
    } else if let item = attempt.place.item {
      let known = values[attempt.place]
      bindings.file = scheduler.withItems(of: attempt.place.node) { table in
        FileValues(
          path: Array(table.files.path(item)), size: table.files.sizes[item],
          modified: table.files.modified[item], sha256: known?.sha256.map { Hexadecimal.text($0) })
      }
      if let known { bind(known, to: &bindings) }
    } else {
      bindings.run = .init(
        id: runID, done: scheduler.doneCount(of: manifest), failed: scheduler.failedCount(of: manifest),
        exitCode: Int(scheduler.exitCode(of: manifest).rawValue))
    }
    return bindings
  }

  private func bind(_ known: ItemValues, to bindings: inout Bindings) {
    if !known.allocate.isEmpty {
      bindings.allocate = .init(known.allocate)
    }
    if !known.transfer.isEmpty {
      bindings.transfer = .init(known.transfer)
    }
  }

  // MARK: Answers

  /// The search that has to run away from the loop's thread before `result` is called; `nil` if the outcome needs none.
  func search(of outcome: TransferOutcome) -> (@Sendable () -> ResponseReading)? {
    guard case .success(let answer) = outcome.result, let attempt = flights[outcome.id] else { return nil }
    let prepared = prepared(attempt)
    guard prepared.isRead(answer.status), !prepared.patterns.isEmpty || answer.body.count > Self.smallBody
    else { return nil }
    let (step, patterns) = (prepared.step, prepared.patterns)
    return { ResponseReading(answer, of: step, patterns) }
  }

  /// A JSON body up to this many bytes is read on the loop's thread.
  private static let smallBody = 16 << 10

  /// What the scheduler has to know of an outcome; what the answer gave is kept.
  ///
  /// - Parameter reading: the result of `search`; `nil` to read the response here.
  func result(
    of outcome: TransferOutcome, _ reading: ResponseReading? = nil, at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult {
    guard let attempt = flights.removeValue(forKey: outcome.id) else {
      preconditionFailure("an outcome is of a request that was started")
    }
    // Also without an answer: a person may say later that the file was delivered.
    if let inode = outcome.inode, keepsInodes[attempt.place.node.index] {
      let root = rootIdentities[attempt.place.node.index]
      values.update(attempt.place) { ($0.inode, $0.root) = (inode, root) }
    }
    let condition = conditions.removeValue(forKey: outcome.id)
    let answer: AttemptResult.Answer =
      switch outcome.result {
      case .success(let answer): judgeable(answer, to: attempt, reading, condition, at: now, scheduler)
      case .failure(let failure):
        .failure(
          .init(
            failure.code, values.mask.mask(failure.message),
            mayHaveReachedServer: failure.mayHaveReachedServer))
      }
    return AttemptResult(id: outcome.id, answer: answer, traffic: outcome.traffic, duration: outcome.duration)
  }

  private func judgeable(
    _ answer: TransferAnswer, to attempt: Attempt, _ reading: ResponseReading?, _ condition: FetchCondition?,
    at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult.Answer {
    var response = response(answer, to: attempt, reading, at: now, scheduler)
    let step = prepared(attempt).step
    guard step.kind == .fetch else {
      return BodyDoubt.failure(response, answer, to: step).map { .failure($0) } ?? .response(response)
    }
    response.condition = condition?.seen(in: answer) ?? .absent
    return .response(response)
  }

  private func response(
    _ answer: TransferAnswer, to attempt: Attempt, _ found: ResponseReading?, at now: Instant,
    _ scheduler: Scheduler
  ) -> AttemptResult.Response {
    let prepared = prepared(attempt)
    let step = prepared.step
    var response = AttemptResult.Response(status: answer.status)
    response.withheld = answer.withheld.map(values.mask.mask)
    if let text = answer.header("Retry-After") { response.retryAfter = RetryAfter.parse(text, now: now) }
    guard step.expects(status: answer.status) else { return response }
    let reading =
      prepared.isRead(answer.status) ? found ?? ResponseReading(answer, of: step, prepared.patterns) : nil
    if step.kind == .fetch { return fetchResponse(answer, to: attempt, step, reading, response, at: now) }
    if let mismatch = reading?.mismatch {
      response.mismatch = mismatch.message
      switch mismatch.kind {
      case .different: break
      case .unreadable: response.isUnreadable = true
      case .undecided: (response.isUnreadable, response.isUndecided) = (true, true)
      }
      return response
    }
    if let sha256 = answer.sha256 { keep(sha256: sha256, of: attempt.place) }
    guard !step.capture.isEmpty else { return response }
    do throws(TransportFailure) {
      let captures = guarded(Self.resolveLocations(try reading?.captures.get() ?? [], step, answer))
      response.expires = ExpiryReader.expiry(of: captures, now: now)
      keep(captures, of: attempt, step)
      if step.kind == .allocate, let path = scheduler.path(of: attempt.place) {
        response.regained = orphans.regained(by: captures, path: Array(path), of: attempt.place.node)
      }
      response.origins = origins(prepared, attempt.place)
    } catch {
      response.missing = error
    }
    return response
  }

  /// A `Location` may be relative to the request's own URL (RFC 9110 §10.2.2); later steps need it whole.
  private static func resolveLocations(
    _ captures: [CapturedValue], _ step: Step, _ answer: TransferAnswer
  ) -> [CapturedValue] {
    captures.enumerated().map { index, capture in
      guard case .header(let name) = step.capture[index].source, name.lowercased() == "location" else {
        return capture
      }
      var resolved = capture
      var base = URLReference(answer.url)
      base.removeUserinfo()
      resolved.value = URLReference(capture.value).resolved(against: base).description
      return resolved
    }
  }

  /// What may be written down and shown of what a response gave: no user name and password of a URL, and no capture
  /// that holds a secret of the manifest or a token, which is then secret itself.
  private func guarded(_ captures: [CapturedValue]) -> [CapturedValue] {
    captures.map { capture in
      guard !capture.isSecret else { return capture }
      var guarded = capture
      var url = URLReference(capture.value)
      if url.isHTTP, url.removeUserinfo() { guarded.value = url.description }
      guarded.isSecret = values.lasting.mask(guarded.value) != guarded.value
      return guarded
    }
  }

  private func keep(_ captures: [CapturedValue], of attempt: Attempt, _ step: Step) {
    let node = attempt.place.node
    if attempt.place.item == nil {
      for capture in captures where capture.isSecret { values.keepSecret(capture.value) }
    }
    switch step.kind {
    case .allocate: values.update(attempt.place) { $0.allocate = captures }
    case .transfer: values.update(attempt.place) { $0.transfer = captures }
    case .token: keep(token: captures, of: node)
    case .request:
      nodeCaptures[node.index] = captures
      let known = plan.nodes[node.index]
      requestValues[known.manifest.index][known.name] = .init(captures)
    case .commit, .probe, .fetch, .abandon: break
    }
  }

  /// Each capture of a token is sensitive; masked are those that requests carry as the token.
  private func keep(token captures: [CapturedValue], of node: NodeID) {
    tokenValues[node.index] = Dictionary(captures.map { ($0.name, SensitiveValue($0.value)) }) { $1 }
    guard case .token(let work) = plan.nodes[node.index].work else { return }
    for capture in captures where work.apply.value.references.contains(.token(capture.name)) {
      if !capture.isSecret { values.keepSecret(capture.value) }
    }
  }

  /// Where later steps of the item go, now that the captures tell.
  private func origins(_ prepared: PreparedStep, _ place: Place) -> [Step.Kind: Origin] {
    guard !prepared.roaming.isEmpty, let known = values[place] else { return [:] }
    var bindings = Bindings(secrets: secrets[plan.manifest(of: place.node).index])
    bind(known, to: &bindings)
    var origins: [Step.Kind: Origin] = [:]
    for later in prepared.roaming {
      // What is not captured yet is found after a later step; what is no URL fails when it is sent.
      guard let url = (try? later.builder.build(bindings))?.url, let origin = Origin(url: url) else {
        continue
      }
      origins[later.kind] = origin
    }
    return origins
  }

  /// The validators change only with the file that they are of.
  private func fetchResponse(
    _ answer: TransferAnswer, to attempt: Attempt, _ step: Step, _ reading: ResponseReading?,
    _ response: AttemptResult.Response, at now: Instant
  ) -> AttemptResult.Response {
    var response = response
    let node = attempt.place.node.index
    let old = fetchRecords[node]
    let unchanged = FetchRecord(etag: old?.etag, lastModified: old?.lastModified, fetchedAt: now)
    switch step.content(of: answer.status) {
    case .document:
      // Its body was looked at before it took the file's place, and is not here any more.
      response.mismatch = answer.refusal
      guard answer.refusal == nil else { return response }
      fetchRecords[node] = FetchRecord(
        etag: Validator.entityTag(of: answer), lastModified: Validator.lastModified(of: answer, at: now),
        fetchedAt: now)
    case .notModified:
      // What is expected was asked of the response whose document is still the newest.
      fetchRecords[node] = unchanged
    case .nothing:
      response.mismatch = reading?.mismatch?.message
      if response.mismatch == nil { fetchRecords[node] = unchanged }
    case .unexpected: break
    }
    return response
  }

  // MARK: For the journal

  func values(of place: Place) -> ItemValues { values[place] ?? ItemValues() }
  func captures(of node: NodeID) -> [CapturedValue] { nodeCaptures[node.index] ?? [] }

  func fetchRecord(of node: NodeID) -> FetchRecord? { fetchRecords[node.index] }

  func forgetValues(of place: Place) { values.forget(place) }

  /// The item's upload ID will not be used, and is to be released where its manifest says how.
  func orphan(_ place: Place, as orphan: Place, _ scheduler: Scheduler) {
    guard let item = place.item, let known = values[place] else { return }
    let file = scheduler.withItems(of: place.node) { table in
      FileValues(
        path: Array(table.files.path(item)), size: table.files.sizes[item],
        modified: table.files.modified[item], sha256: known.sha256.map { Hexadecimal.text($0) })
    }
    guard let file, orphans.add(.init(file: file, values: known), as: orphan) else { return }
    values.update(orphan) { $0 = known }
  }

  func forget(orphan: Place) {
    orphans.forget(orphan)
    values.forget(orphan)
  }
  func forget(_ attempt: UInt64) {
    flights[attempt] = nil
    conditions[attempt] = nil
  }
}

extension TransferRequest.Redirects {
  fileprivate init(_ rules: RedirectRules) {
    let acrossOrigins: TransferRequest.AcrossOrigins =
      switch rules.acrossOrigins {
      case .refuse: .refuse
      case .strip: .strip
      case .follow: .follow
      }
    self.init(limit: rules.limit, acrossOrigins: acrossOrigins)
  }
}
