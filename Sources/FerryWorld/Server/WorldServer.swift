import FerryPlan
import FerrySimulation

/// A server behind an unreliable network. Its upload IDs expire and its commits take effect once.
struct WorldServer {
  /// An upload ID that was issued.
  private struct Upload {
    var end: Instant
    var isWhole = false
    /// The number of bytes stored from the start of the file, if it is sent in parts.
    var stored: Int64 = 0
    /// The sizes of the numbered parts that are stored, in bytes.
    var parts: [Int: Int64] = [:]
    /// The number of bytes in each partial upload of a file.
    var partials: [Int: Int64] = [:]
    /// Whether a request was sent to one of the partial uploads.
    var isUsed = false
    /// Whether the upload's commit was executed, or the resumable upload was completed.
    var isCommitted = false
  }

  let scenario: Scenario
  let plan: Plan
  /// Whether no more faults occur.
  var isGood = false
  /// Effects that have not been checked yet.
  private(set) var effects: [ServerEffect] = []
  private(set) var requests = 0
  private var uploads: [Upload] = []
  /// The upload resource that the server has created for the current request.
  private(set) var offered: Int?
  /// The remaining bytes of a fetched document that was cut off at a byte limit.
  private var restOfDownload: Int64?
  private var acted: Set<[UInt8]> = []
  /// For each file, the latest upload ID of its partial uploads.
  var openPartials: [[UInt8]: Int] = [:]

  init(_ scenario: Scenario, _ plan: Plan) {
    self.scenario = scenario
    self.plan = plan
  }

  mutating func takeEffects() -> [ServerEffect] {
    defer { effects.removeAll(keepingCapacity: true) }
    return effects
  }

  mutating func answer(_ call: Call) -> Reply {
    if let refusal = refusal(of: call) { return refusal }
    let number = requests
    requests += 1
    let fault = isGood ? nil : scenario.fates[number]
    offered = offer(call, number, fault)
    var latency = scenario.isBrisk || isGood ? 10 : 1 + scenario.chance(number, 3_000)
    if case .slow(let seconds) = fault { latency += 1_000 * seconds }
    var reply = reply(to: call, fault, after: .milliseconds(latency))
    fill(&reply, call, number, fault)
    if let offered { tell(offered, of: call, number, &reply) }
    return reply
  }

  /// The end of a single request whose body exceeds the bytes that are reserved for it. It does not reach the server.
  private func refusal(of call: Call) -> Reply? {
    guard call.step == .request, let limit = call.attempt.bodyLimit, requestSize > limit else { return nil }
    var failure = TransportFailure(.byteLimit, "made up", mayHaveReachedServer: false)
    failure.refusedBodySize = requestSize
    return Reply(answer: .failure(failure), after: .zero)
  }

  /// The size of the bodies of single requests, in bytes. They fit the budgets.
  private var requestSize: Int64 {
    let manifest = scenario.manifest
    let limits = [manifest.wifi, manifest.wired, manifest.cellular, manifest.any]
    let least = limits.compactMap { $0?.limit }.min() ?? 100
    return least < 100_000 || scenario.chance(0xB0D7, 2) == 0 ? 100 : min(least / 2, 1_000_000)
  }

  private mutating func reply(to call: Call, _ fault: FaultKind?, after: Duration) -> Reply {
    switch fault {
    case .refused: return .fails(.connect, reached: false, after: after)
    case .handshakeFails: return .fails(.handshake, reached: false, after: after)
    case .timesOut: return .fails(.requestTimeout, reached: true, after: after)
    case .cut(let percent):
      store(call, percent: percent)
      return .fails(.connectionLost, reached: true, after: after)
    case .answerLost:
      _ = act(call)
      return .fails(.connectionLost, reached: true, after: after)
    case .gatewayTimesOut(let hasActed):
      if hasActed { _ = act(call) }
      return .status(504, after: after)
    case .seeOther(let hasActed):
      if hasActed { _ = act(call) }
      return .status(303, after: after)
    case .redirectRefused(let hasActed):
      if hasActed { _ = act(call) }
      return .fails(.connect, reached: true, after: after)
    case .invalidStatus(let hasActed):
      if hasActed { _ = act(call) }
      return .status(699, after: after)
    case .busy: return .status(503, after: after)
    case .tooMany(let seconds): return .status(429, after: after, retryAfter: .seconds(seconds))
    case .tokenRefused where !hasActed(call): return .status(401, after: after)
    // A server that has acted does not refuse the request permanently. A refusal of the probe leaves the
    // outcome of the commit unknown.
    case .forbidden where !hasActed(call) || call.step == .probe: return .status(403, after: after)
    case .idEnds:
      // A completed upload resource may be removed immediately.
      if let id = call.uploadID, !uploads[id - 1].isCommitted || isResumable(call) {
        uploads[id - 1].end = call.now
      }
    case .losesBytes:
      if let id = call.uploadID, !uploads[id - 1].isWhole {
        uploads[id - 1].stored /= 2
        uploads[id - 1].partials[1].map { uploads[id - 1].partials[1] = $0 / 2 }
      }
    case .slow, .tokenRefused, .forbidden, nil: break
    }
    var reply = act(call)
    reply.after = after
    return reply
  }

  private mutating func fill(_ reply: inout Reply, _ call: Call, _ number: Int, _ fault: FaultKind?) {
    switch fault {
    case .refused, .handshakeFails: return
    case .timesOut, .cut, .answerLost, .gatewayTimesOut, .seeOther, .redirectRefused, .invalidStatus, .busy,
      .tooMany, .tokenRefused, .forbidden, .idEnds,
      .losesBytes, .slow, nil:
      reply.overhead = 300
    }
    // With a smaller overhead, the creation of all partial uploads of a file fits in any window of the budget.
    if case .create = call.attempt.operation, call.concatenation(in: plan) != nil { reply.overhead /= 10 }
    if scenario.lingers, !isGood { reply.lingers = .milliseconds(scenario.chance(number ^ 0x11F, 900)) }
    switch call.step {
    case .transfer: reply.sent = call.size
    case .fetch: reply.received = download(call, number)
    case .download: reply.received = call.fileSize
    case .request: reply.sent = requestSize
    case .token, .allocate, .commit, .probe, .abandon: reply.sent = 100
    }
    if case .cut(let percent) = fault {
      reply.sent = reply.sent * Int64(percent) / 100
      reply.received = reply.received * Int64(percent) / 100
    }
    if call.step == .transfer { reply.sentOfFile = reply.sent }
    // 1 MB per second.
    reply.after += .microseconds(max(reply.sent, reply.received))
  }

  /// The size of a fetched document. If a byte limit cut off a fetch, the next fetch receives the remaining
  /// bytes.
  private mutating func download(_ call: Call, _ number: Int) -> Int64 {
    let manifest = scenario.manifest
    let limits = [manifest.wifi, manifest.wired, manifest.cellular, manifest.any]
    let isSmall = limits.contains { $0.map { $0.limit < 1_000_000 } ?? false }
    let rest = restOfDownload ?? Int64(scenario.chance(number ^ 0xFE7C, isSmall ? 3_000 : 2_000_000))
    restOfDownload = call.attempt.byteLimit.flatMap { $0 < rest ? rest - $0 : nil }
    return rest
  }

  private func hasActed(_ call: Call) -> Bool { acted.contains(key(call)) }

  func key(_ call: Call) -> [UInt8] { [UInt8(call.attempt.ref.node.index)] + call.pathBytes }

  private mutating func act(_ call: Call) -> Reply {
    switch call.step {
    case .token:
      let life = scenario.chance(requests ^ 0x70CE, 130) - 5
      return .status(200, expires: life == 0 ? nil : call.now.advanced(by: .seconds(isGood ? 600 : life)))
    case .allocate:
      var reply = Reply.status(200)
      uploads.append(Upload(end: call.now.advanced(by: isGood ? .seconds(90 * 86_400) : .seconds(60))))
      reply.uploadID = uploads.count
      return isTus(call) ? statingExpiry(reply, of: uploads.count, call) : reply
    case .transfer:
      if case .create(let range) = call.attempt.operation { return create(call, range) }
      guard let id = call.uploadID else { return count(call) }
      if isResumable(call), !isTus(call) { return resume(call, id) }
      if uploads[id - 1].isCommitted { return .status(409) }
      guard call.now < uploads[id - 1].end else { return .status(404) }
      return transfer(call, to: id)
    case .commit:
      guard let id = call.uploadID else { return .status(404) }
      // Every concatenation creates another upload.
      if uploads[id - 1].isCommitted, call.concatenation(in: plan) != nil { return count(call) }
      // S3 forgets the ID of a completed upload.
      if uploads[id - 1].isCommitted { return .status(s3(call) == nil ? 409 : 404) }
      guard call.now < uploads[id - 1].end, uploads[id - 1].isWhole else { return .status(410) }
      uploads[id - 1].isCommitted = true
      return count(call)
    case .probe:
      guard let id = call.uploadID else { return .status(404) }
      return .status(uploads[id - 1].isCommitted ? 200 : 404)
    case .abandon:
      guard let id = call.uploadID else { return .status(404) }
      // The release would delete a delivered file, so ferry must never request it.
      if counts(uploads[id - 1], call) { tell(call) }
      uploads[id - 1].end = call.now
      return .status(200)
    case .fetch: return .status(scenario.chance(requests, 4) == 0 ? 304 : 200)
    case .request, .download: return count(call)
    }
  }

  /// Stores the bytes of a transfer. If the transfer has not completed, the response states the number of
  /// stored bytes.
  private mutating func transfer(_ call: Call, to id: Int) -> Reply {
    if let machine = s3(call) { return storePart(call, to: id, machine) }
    if let machine = call.concatenation(in: plan) { return continuePartial(call, machine, id) }
    switch call.attempt.operation {
    case .whole, .listParts:
      uploads[id - 1].isWhole = true
      return step(call)?.repeatability == .once ? count(call) : .status(200)
    case .send(let range):
      guard range.lowerBound == uploads[id - 1].stored else { return .offsetRefused }
      store(call, percent: isGood || scenario.chance(requests ^ 0x0FF, 8) > 0 ? 100 : 50)
    case .queryOffset, .queryPart, .create: break
    }
    let stored = uploads[id - 1].stored
    let isBare = step(call)?.request.method == "PATCH" || isTus(call)
    if stored == call.fileSize { uploads[id - 1].isWhole = true }
    // Without an `allocate` step, the transfer alone delivers the file.
    if stored == call.fileSize, isResumable(call) { _ = count(call) }
    if stored == call.fileSize, !isBare { return .status(200) }
    let reply = Reply.status(isBare ? 202 : 308, offset: stored)
    return isTus(call) ? extendingExpiry(reply, of: id, call) : reply
  }

  /// Stores a numbered part, or lists at most two of the stored parts.
  private mutating func storePart(_ call: Call, to id: Int, _ machine: S3Multipart) -> Reply {
    switch call.attempt.operation {
    case .whole, .create, .queryOffset, .queryPart: return .status(400)
    case .send(let range):
      let number = machine.number(ofPartAt: range.lowerBound, size: call.fileSize)
      uploads[id - 1].parts[number] = range.upperBound - range.lowerBound
      uploads[id - 1].isWhole = uploads[id - 1].parts.count == machine.partCount(call.fileSize)
      return .status(200, transfer: .part(etag: "\"\(number)\"", nil))
    case .listParts(let last):
      let rest = uploads[id - 1].parts.filter { $0.key > last }.sorted { $0.key < $1.key }
      let page = rest.prefix(2).map { PartList.Part(number: $0.key, size: $0.value, etag: "\"\($0.key)\"") }
      return .status(
        200, transfer: .parts(PartList(parts: page, next: rest.count > 2 ? page.last?.number : nil)))
    }
  }

  /// The protocol of the call's upload, if it is S3's multipart protocol.
  private func s3(_ call: Call) -> S3Multipart? {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work,
      case .s3Multipart(let machine) = work.transferProtocol
    else { return nil }
    return machine
  }

  /// Stores the first bytes of a part.
  mutating func store(_ call: Call, percent: Int) {
    guard call.step == .transfer, let range = call.attempt.operation.range, let id = call.uploadID ?? offered,
      s3(call) == nil
    else { return }
    if let machine = call.concatenation(in: plan) {
      return storePartial(call, machine, range, id, percent: percent)
    }
    guard range.lowerBound == uploads[id - 1].stored else { return }
    uploads[id - 1].stored += (range.upperBound - range.lowerBound) * Int64(percent) / 100
  }

  private func step(_ call: Call) -> Step? {
    plan.nodes[call.attempt.ref.node.index].steps.first { $0.kind == call.step }
  }

  private func counts(_ upload: Upload, _ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else { return false }
    return work.commit == nil ? upload.isWhole : upload.isCommitted
  }

  mutating func count(_ call: Call) -> Reply {
    acted.insert(key(call))
    tell(call)
    return .status(200)
  }

  // MARK: Upload resources

  mutating func addUpload(until end: Instant) -> Int {
    uploads.append(Upload(end: end))
    return uploads.count
  }

  func stored(_ id: Int) -> Int64 { uploads[id - 1].stored }
  func partial(_ number: Int, of id: Int) -> Int64? { uploads[id - 1].partials[number] }
  func storedPartials(_ id: Int) -> Int64 { uploads[id - 1].partials.values.reduce(0, +) }
  func isUsed(_ id: Int) -> Bool { uploads[id - 1].isUsed }
  mutating func markUsed(_ id: Int) { uploads[id - 1].isUsed = true }
  mutating func setPartial(_ number: Int, of id: Int, to bytes: Int64) {
    uploads[id - 1].partials[number] = bytes
  }
  func exists(_ id: Int, at now: Instant) -> Bool { now < uploads[id - 1].end }
  mutating func markWhole(_ id: Int) { uploads[id - 1].isWhole = true }
  func end(_ id: Int) -> Instant { uploads[id - 1].end }
  mutating func extend(_ id: Int, until end: Instant) { uploads[id - 1].end = max(uploads[id - 1].end, end) }
  func isCompleted(_ id: Int) -> Bool { uploads[id - 1].isCommitted }
  mutating func markCompleted(_ id: Int) {
    (uploads[id - 1].isWhole, uploads[id - 1].isCommitted) = (true, true)
  }

  private mutating func tell(_ call: Call) {
    effects.append(
      ServerEffect(node: call.attempt.ref.node.index, path: Array(call.pathBytes), step: call.step))
  }
}
