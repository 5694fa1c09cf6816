import FerryManifest
import FerryPlan

/// A model of a network and of the servers behind it.
package struct NetworkModel: Sendable {
  package enum Rate: Hashable, Sendable {
    /// Bytes per second, divided evenly among the requests that are running when a request begins.
    case shared(Double)
    /// Bytes per second for each connection.
    case perConnection(Double)
  }

  package var rate: Rate
  /// The time from a request to its response, in addition to the transfer time.
  package var latency: Duration
  /// The percentage of requests whose connection fails halfway.
  package var lossPercent: Double
  /// The size of each fetched document, in bytes.
  package var fetchSize: Int64
  /// The interval at which every fetched document changes, measured from the start; `nil` if documents never change. A
  /// fetch of an unchanged document has no new data.
  package var fetchChanges: Duration?

  package init(
    rate: Rate, latency: Duration = .zero, lossPercent: Double = 0, fetchSize: Int64 = 0,
    fetchChanges: Duration? = nil
  ) {
    self.rate = rate
    self.latency = latency
    self.lossPercent = lossPercent
    self.fetchSize = fetchSize
    self.fetchChanges = fetchChanges
  }

  /// The version of every fetched document at a time: 0 at the start.
  func documentVersion(at now: Instant, from start: Instant) -> Int64 {
    guard let fetchChanges, fetchChanges > .zero else { return 0 }
    return Int64(start.duration(to: now).seconds / fetchChanges.seconds)
  }
}

/// The network in one simulation. It tracks the running requests.
final class SimulatedNetwork {
  private let model: NetworkModel
  private let plan: Plan
  private var random: SeededRandom
  /// The requests that are running, with the indices of their sessions.
  private var running: [(end: Instant, session: Int)] = []
  private let zones: [String: CalendarZone]
  /// The number of bytes that the server has of each file that is being sent in parts.
  private var offsets: [ItemRef: Int64] = [:]
  /// The stored parts of uploads to S3 that have not completed.
  private var parts: [ItemRef: [PartList.Part]] = [:]
  /// The number of bytes in each partial upload of each file.
  private var partials: [ItemRef: [Int: Int64]] = [:]
  private var nextID = 0
  private let start: Instant
  /// The versions of the documents that fetches have stored, by node.
  private var stored: [Int: Int64]

  /// - Parameter fetched: the fetches that stored a document before the start.
  init(
    _ model: NetworkModel, plan: Plan, zones: [String: CalendarZone], fetched: [NodeID], at start: Instant,
    seed: UInt64
  ) {
    self.zones = zones
    self.model = model
    self.plan = plan
    self.start = start
    stored = Dictionary(uniqueKeysWithValues: fetched.map { ($0.index, 0) })
    random = SeededRandom(seed: seed)
  }

  func answer(_ call: Call) -> Reply {
    running.removeAll { $0.end <= call.now }
    let version = model.documentVersion(at: call.now, from: start)
    let isNew = call.step == .fetch && stored[call.attempt.ref.node.index] != version
    let body = isNew ? model.fetchSize : documentSize(call)
    var after = model.latency
    let session = plan.nodes[call.attempt.ref.node.index].steps.first { $0.kind == call.step }?.session.index
    after += duration(of: call.size + body, session: session, at: call.now)
    let isLost = model.lossPercent > 0 && random.fraction() * 100 < model.lossPercent
    var reply = isLost ? Reply.fails(.connectionLost, reached: true) : .status(status(of: call))
    if call.step == .fetch, !isLost {
      if !isNew { reply = .status(304) }
      stored[call.attempt.ref.node.index] = version
    }
    reply.received = isLost ? body / 2 : body
    reply.after = isLost ? .nanoseconds(after.nanoseconds / 2) : after
    reply.sent = isLost ? call.size / 2 : call.size
    if call.step == .allocate {
      nextID += 1
      reply.uploadID = nextID
    }
    if case .create = call.attempt.operation {
      nextID += 1
      reply.resource = (nextID, isTus(call) ? reply.after : model.latency)
    }
    if call.step == .transfer { store(call, isLost: isLost, &reply) }
    running.append((call.now.advanced(by: reply.after), session ?? -1))
    return reply
  }

  /// The size of the document that a download receives; 0 for other steps.
  private func documentSize(_ call: Call) -> Int64 {
    guard call.step == .download else { return 0 }
    return call.fileSize == FileColumns.unknownSize ? model.fetchSize : call.fileSize
  }

  /// The time that a request needs to transfer the bytes, at the rates that apply from now on.
  private func duration(of bytes: Int64, session: Int?, at now: Instant) -> Duration {
    let network: Double =
      switch model.rate {
      case .shared(let rate): rate / Double(running.count + 1)
      case .perConnection(let rate): rate
      }
    let sharers = running.count { $0.session == session }
    let limits = [
      (plan.policies.maxBandwidth, running.count),
      (session.flatMap { plan.sessions[$0].maxBandwidth }, sharers),
    ]
    .compactMap { limit, others in limit.map { ($0, zones[$0.timeZone] ?? .utc, Double(others + 1)) } }
    var rest = Double(bytes)
    var time = now
    while rest > 0 {
      let allowed = limits.compactMap { limit, zone, requests in
        limit.bytesPerSecond(at: time, in: zone).map { Double($0) / requests }
      }
      let rate = ([network] + allowed).filter { $0 > 0 }.min()
      guard let rate else { break }
      let whole = Duration.seconds(fraction: rest / rate)
      guard let change = limits.compactMap({ $0.0.change(after: time, in: $0.1) }).min(),
        time.duration(to: change) < whole
      else { return now.duration(to: time) + whole }
      rest -= time.duration(to: change).seconds * rate
      time = change
    }
    return now.duration(to: time)
  }

  /// Whether a server assigns the upload resource only in its final response.
  private func isTus(_ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else { return false }
    return work.transferProtocol.name == .tus
  }

  /// Stores the bytes of one of several requests of a transfer, and states the offset if the transfer has not
  /// completed.
  private func store(_ call: Call, isLost: Bool, _ reply: inout Reply) {
    if case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work,
      case .s3Multipart(let machine) = work.transferProtocol
    {
      return storePart(call, machine, isLost: isLost, &reply)
    }
    if let machine = call.concatenation(in: plan) {
      return storePartial(call, machine, isLost: isLost, &reply)
    }
    switch call.attempt.operation {
    case .whole, .listParts, .queryPart: return
    case .queryOffset: break
    case .create(let range), .send(let range): offsets[call.attempt.ref] = range.lowerBound + reply.sent
    }
    let offset = offsets[call.attempt.ref] ?? 0
    let isComplete = offset == call.fileSize
    if isComplete, !isLost { offsets[call.attempt.ref] = nil }
    guard !isComplete, case .response(var response) = reply.answer else { return }
    response.transfer = .offset(offset)
    reply.answer = .response(response)
  }

  /// Creates a partial upload of tus, stores bytes in it, or states its offset.
  private func storePartial(_ call: Call, _ machine: Tus, isLost: Bool, _ reply: inout Reply) {
    let number = machine.resourceNumber(of: call.attempt.operation, size: call.fileSize)
    if case .create = call.attempt.operation {
      partials[call.attempt.ref, default: [:]][number] = 0
    } else {
      partials[call.attempt.ref, default: [:]][number, default: 0] += reply.sent
    }
    guard !isLost, case .response(var response) = reply.answer else { return }
    response.transfer = .offset(partials[call.attempt.ref]?[number] ?? 0)
    reply.answer = .response(response)
  }

  /// Stores one of the numbered parts of an upload to S3, or lists the stored parts.
  private func storePart(_ call: Call, _ machine: S3Multipart, isLost: Bool, _ reply: inout Reply) {
    guard !isLost, case .response(var response) = reply.answer else { return }
    let ref = call.attempt.ref
    switch call.attempt.operation {
    case .whole, .create, .queryOffset, .queryPart: return
    case .send(let range):
      let number = machine.number(ofPartAt: range.lowerBound, size: call.fileSize)
      parts[ref, default: []].append(
        .init(number: number, size: range.upperBound - range.lowerBound, etag: "\"simulated\""))
      response.transfer = .part(etag: "\"simulated\"", nil)
      if parts[ref]?.count == machine.partCount(call.fileSize) { parts[ref] = nil }
    case .listParts: response.transfer = .parts(PartList(parts: parts[ref] ?? [], next: nil))
    }
    reply.answer = .response(response)
  }

  /// The status that the step expects.
  private func status(of call: Call) -> Int {
    let steps = plan.nodes[call.attempt.ref.node.index].steps
    return steps.first { $0.kind == call.step }?.expect.status.first ?? 200
  }
}
