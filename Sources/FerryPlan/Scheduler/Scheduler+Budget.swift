import FerryManifest

/// Budgets: the limits on the bytes that sessions may transfer.
extension Scheduler {
  /// The gate that decides when the transfers of an item or a node start; `nil` if no budget applies.
  func gate(of ref: ItemRef) -> Int? {
    let gates = sessionGates[session(of: ref.node).index]
    // Usually, both gates are the same.
    guard gates.ofDiscretionary != gates.ofOthers else { return gates.ofOthers }
    return isDiscretionary(ref) ? gates.ofDiscretionary : gates.ofOthers
  }

  /// Whether a gate waits for the ledger's reply.
  var awaitsLease: Bool { gates.contains { $0.asked != nil } }

  mutating func openGates() {
    gates = []
    sessionGates = []
    for session in plan.sessions { sessionGates.append(openGates(of: session)) }
  }

  /// The gates of a session that has none yet. Sessions with the same budgets share a gate.
  mutating func openGates(of session: SessionPlan) -> SessionGates {
    SessionGates(
      ofOthers: gate(isDiscretionary: session.isDiscretionary(ifOfBackground: false)),
      ofDiscretionary: gate(
        isDiscretionary: session.isDiscretionary(ifOfBackground: options.launch != .foreground)))
  }

  private mutating func gate(isDiscretionary: Bool) -> Int? {
    let limits = plan.policies.budgets.limits(on: conditions.network, isDiscretionary: isDiscretionary)
    guard !limits.isEmpty else { return nil }
    if let known = gates.firstIndex(where: { $0.limits.map(\.scope) == limits.map(\.scope) }) { return known }
    gates.append(
      BudgetGate(
        network: conditions.network,
        limits: limits.map { scope, budget in
          .init(scope, budget, zone: options.zones[budget.timeZone] ?? .utc, at: now)
        }))
    return gates.count - 1
  }

  /// Switches to the budgets of another network. Requests in progress continue without a reservation under
  /// the new budgets.
  mutating func changeGates() {
    let waiters = gates.flatMap(\.waiters)
    if !gates.isEmpty { actions.append(.keepLeases(0)) }
    openGates()
    for ready in waiters { enqueue(ready) }
    returnSkipped()
  }

  /// Begins the next window. Items that did not fit in the last one go first. The leases of requests in progress move to the
  /// new window: their bytes are sent in it, and they still count in the windows of other budgets that continue.
  mutating func rollGates() {
    var hasRolled = false
    for gate in gates.indices where gates[gate].roll(at: now) { hasRolled = true }
    guard hasRolled else { return }
    for gate in gates.indices { gates[gate].keepReserved() }
    for upload in uploads.indices { uploads[upload].active.beginWindow() }
    keepLeases()
    returnSkipped()
    returnWaiters()
  }

  /// Accepts a lease. A lease that was requested for another window or network has already been returned, and
  /// is ignored.
  mutating func take(_ lease: Lease, for request: Lease.Request) {
    guard let gate = gates.firstIndex(where: { $0.asked == request }) else { return }
    gates[gate].answered(lease)
    returnWaiters()
  }

  /// Returns the leases that no gate holds.
  private mutating func keepLeases() {
    actions.append(.keepLeases(gates.reduce(0) { $0 +| $1.held }))
  }

  /// Returns leased bytes that were reserved for a request of unknown size, or for a file, and were not sent.
  mutating func returnSurplus(of gate: Int) {
    // A lease that has been requested is not part of what the gates hold yet.
    guard !awaitsLease, gates[gate].giveUpSurplus() else { return }
    keepLeases()
  }

  /// Counts bytes that the sockets have transferred. It is not known which gate's requests transferred them. They are
  /// counted first against reservations of known sizes, then against other reservations; all gates count the rest.
  mutating func count(moved bytes: Int64) {
    var rest = bytes
    for isExact in [true, false] {
      for gate in gates.indices {
        let share = gates[gate].share(of: rest, isExact: isExact)
        gates[gate].moved(share)
        rest -= share
      }
    }
    for gate in gates.indices { gates[gate].moved(rest) }
  }

  /// Offers the budgets to the requests that wait for them. A request that exceeds a whole budget of this network continues to
  /// wait for another one until its time has passed.
  private mutating func returnWaiters() {
    for gate in gates.indices {
      for ready in gates[gate].takeWaiters() {
        if fitsWindow(ready, gate) || now >= deadline(of: ready.ref) {
          enqueue(ready)
        } else {
          withdrawIntent(ready.ref)
          gates[gate].waiters.append(ready)
        }
      }
    }
  }

  private mutating func returnSkipped() {
    for upload in uploads.indices where !uploads[upload].skipped.isEmpty {
      let items = uploads[upload].skipped.unordered.map(\.item).sorted()
      uploads[upload].skipped = .init()
      uploads[upload].isHandled = false
      prepend(PendingItems(items), to: upload)
    }
  }

  /// Releases the reservation of an item, node or orphan that has ended. The unused part may allow other
  /// items and requests to start, smallest items first.
  mutating func releaseReservation(_ ref: ItemRef) {
    guard let gate = gate(of: ref) else { return }
    gates[gate].endQuery(ref)
    guard gates[gate].isReserved(ref) else { return }
    release(ref, in: gate)
    offerRoom(of: gate)
  }

  /// Releases a reservation without offering the room to other work.
  mutating func release(_ ref: ItemRef, in gate: Int) {
    // With several gates, transferred bytes may have been counted in another one.
    let sent = gates.count > 1 ? self[attempts: ref]?.usefulBytes ?? 0 : 0
    gates[gate].release(ref, sent: sent)
  }

  /// Offers the room of a gate to work that waits for it.
  mutating func offerRoom(of gate: Int) {
    let room = gates[gate].room
    returnSurplus(of: gate)
    guard room > 0 else { return }
    returnWaiters()
    for upload in uploads.indices {
      guard let least = uploads[upload].skipped.min, least.size <= room,
        self.gate(of: ItemRef(uploads[upload].node, least.item)) == gate
      else { continue }
      uploads[upload].skipped.removeMin()
      uploads[upload].isHandled = false
      prepend(PendingItems([least.item]), to: upload)
    }
  }

  /// Reserves budget for a request that is about to be sent, and returns whether the request is covered. If not,
  /// the request waits for a lease or for the next window.
  mutating func isCovered(_ ready: Ready) -> Bool {
    guard let gate = gate(of: ready.ref) else { return true }
    switch ready.step.traits.budget {
    case .never: return true
    case .defers: return isReleaseCovered(ready, by: gate)
    case .reserves: break
    }
    switch admission(of: ready, by: gate) {
    case .admitted: return true
    case .asks(let request): ask(request)
    case .refused where asksServer(ready):
      gates[gate].query(ready.ref)
      if let upload = uploadIndex[ready.ref.node.index] { passSkipped(of: upload) }
      return true
    case .refused:
      // The wait may be long. If this run is killed meanwhile, the journal must not say that the request may have been sent.
      withdrawIntent(ready.ref)
    }
    gates[gate].waiters.append(ready)
    return false
  }

  /// The number of items of an upload for which the budget is too small, and that were begun to ask the server which bytes it
  /// has.
  func queryCount(of upload: Int) -> Int {
    let node = uploads[upload].node
    return gates.reduce(0) { $0 + $1.queries(of: node) }
  }

  /// Whether a request of a transfer asks the server which bytes it has, and sends none. It does not wait for another window:
  /// the server may have the whole file, and the upload may expire.
  private func asksServer(_ ready: Ready) -> Bool {
    guard ready.step == .transfer, let machine = machine(of: ready.ref),
      let state = progress(of: ready.ref)?.nextTransfer
    else { return false }
    return !machine.next(state, size: fileSize(of: ready.ref)).isSending
  }

  /// Reserves the bytes that the request needs. If they are already reserved, another attempt to send the file may
  /// still require a further lease.
  private mutating func admission(of ready: Ready, by gate: Int) -> BudgetGate.Admission {
    let copies = self[attempts: ready.ref]?.bodyCopies ?? 1
    let size = size(of: ready, gate)
    guard let reserved = gates[gate].reservation(of: ready.ref) else {
      return gates[gate].admit(ready.ref, size: size, atMost: sizeBound(of: ready))
    }
    // The server may have lost bytes, have asked for larger requests, or have redirected a request.
    if let size, size > reserved, ready.step == .transfer, copies > 1 || reservesByRequest(ready.ref, gate),
      self[attempts: ready.ref]?.requestsInFlight == 0
    {
      return gates[gate].admit(ready.ref, size: size - reserved)
    }
    // If the size is unknown, the reservation limits the response instead (`byteLimit`).
    return size == nil ? .admitted : gates[gate].covers(ready.ref)
  }

  /// The number of bytes to reserve for a request, including the copies of its body that redirects require; `nil` if it is
  /// unknown.
  func size(of ready: Ready, _ gate: Int) -> Int64? {
    let copies = self[attempts: ready.ref]?.bodyCopies ?? 1
    guard ready.ref.item == nil else { return reservedSize(of: ready.ref, gate).map { $0 *| copies } }
    guard ready.step == .request else { return nil }
    return max(self[attempts: ready.ref]?.bodySize ?? 0, 1) *| copies
  }

  /// The reason for which the first of these requests that waits for a budget does so; `nil` if none does.
  func budgetReason(where isWanted: (ItemRef) -> Bool) -> RecordedFailure? {
    for gate in gates.indices {
      guard let ready = gates[gate].waiters.first(where: { isWanted($0.ref) }) else { continue }
      return gates[gate].reason(size(of: ready, gate) ?? 1, for: ready.ref)
    }
    return nil
  }

  /// The maximum size of the body of a single request for which no bytes are reserved, as for header fields.
  private static let smallBody: Int64 = 16 << 10

  /// The maximum size that the body of a single request may have under a hard or cautious budget; `nil` for no limit.
  func bodyLimit(of ready: Ready) -> Int64? {
    guard ready.step == .request, let gate = gate(of: ready.ref), gates[gate].cutoff != .soft else {
      return nil
    }
    return max(self[attempts: ready.ref]?.bodySize ?? 0, Self.smallBody)
  }

  /// Reserves the bytes that the body of a single request has, according to an attempt that was not sent because fewer bytes
  /// were reserved. The size is not known before, because an earlier node may write the file that is sent.
  mutating func reserve(bodySize: Int64, for flight: Flight) {
    let ref = flight.attempt.ref
    releaseReservation(ref)
    withdrawIntent(ref)
    let hasGrown = self[attempts: ref]?.bodySize != 0
    self[attempts: ref]?.bodySize = bodySize
    if case .cancelled(let failure) = flight.interruption { return end(ref, .cancelled, failure) }
    guard plan.canEverFit(bodySize, of: ref.node, isDiscretionary: isDiscretionary(ref)) else {
      return end(ref, .failed, .neverFits(bodySize))
    }
    guard !hasGrown else { return retry(flight, .grown(to: bodySize), retryAfter: nil, scope: .item) }
    again(ref, flight.attempt.step)
  }

  /// The number of bytes that are sufficient for a document of unknown size. It exceeds `max_size`, because a larger document
  /// fails, and does not wait for another window.
  private func sizeBound(of ready: Ready) -> Int64 {
    plan.nodes[ready.ref.node.index].document?.maxSize.map { $0 +| 64 << 10 } ?? .max
  }

  /// Whether the bytes of an item are reserved for one request at a time, so that its transfer stops between two requests
  /// when a hard budget is used up, and continues in another window.
  func reservesByRequest(_ ref: ItemRef, _ gate: Int) -> Bool {
    guard gates[gate].cutoff == .hard, case .upload(let work) = plan.nodes[ref.node.index].work else {
      return false
    }
    return work.continuesInOtherWindows(
      fileSize(of: ref), gates[gate].limits.map(\.budget),
      within: plan.sessions[session(of: ref.node).index].timeoutForResource)
  }

  /// The number of bytes to reserve for an item before it is transferred: for its whole file, or for one request; `nil`
  /// if the size of a download is unknown.
  func reservedSize(of ref: ItemRef, _ gate: Int) -> Int64? {
    let size = fileSize(of: ref)
    if isDownload(ref.node) { return documentSize(of: ref) }
    guard reservesByRequest(ref, gate), let machine = machine(of: ref) else { return size }
    guard let state = progress(of: ref)?.transfer else { return machine.longestRequest(size: size) }
    let next = machine.next(state, size: size)
    // A query is followed by a request that sends bytes.
    return next.isSending ? next.length(of: size) : machine.longestRequest(size: size)
  }

  /// Reserves the bytes of another request for a file that already has requests in progress. Returns whether
  /// the bytes are covered.
  mutating func coversFurther(_ ref: ItemRef) -> Bool {
    guard let gate = gate(of: ref) else { return true }
    guard reservesByRequest(ref, gate) else { return gates[gate].isCovered(ref) }
    let copies = self[attempts: ref]?.bodyCopies ?? 1
    switch gates[gate].admit(ref, size: reservedSize(of: ref, gate).map { $0 *| copies }) {
    case .admitted: return true
    case .asks(let request):
      ask(request)
      return false
    case .refused: return false
    }
  }

  /// Releases the reservation of one of several requests for the same file, after the request has ended.
  mutating func releaseReservation(of flight: Flight, sent: Int64) {
    let ref = flight.attempt.ref
    guard flight.attempt.operation.isSending, let gate = gate(of: ref), reservesByRequest(ref, gate) else {
      return
    }
    let isLast = self[attempts: ref].map { $0.requestsInFlight <= 1 } ?? true
    let bytes = flight.attempt.operation.length(of: fileSize(of: ref)) *| (flight.attempt.bodyCopies ?? 1)
    gates[gate].release(ref, bytes: isLast ? .max : bytes, sent: gates.count > 1 ? min(sent, bytes) : 0)
    // A request that has sent all of its bytes frees no room in the budget.
    if sent < bytes { offerRoom(of: gate) }
  }

  /// Records that bytes of an item's file have been sent in this window and have to be sent again, if the bytes of the whole
  /// file are reserved.
  mutating func sendsAgain(_ ref: ItemRef, bytes: Int64) {
    guard let gate = gate(of: ref), !reservesByRequest(ref, gate) else { return }
    gates[gate].sendsAgain(ref, bytes: bytes)
  }

  /// The release of an upload ID does not wait for another window: the next run retries it.
  private mutating func isReleaseCovered(_ ready: Ready, by gate: Int) -> Bool {
    guard !gates[gate].isReserved(ready.ref) else { return true }
    switch gates[gate].admit(ready.ref, size: 1) {
    case .admitted: return true
    case .asks(let request):
      ask(request)
      gates[gate].waiters.append(ready)
    case .refused: leave(ready.ref, gates[gate].reason(1))
    }
    return false
  }

  mutating func ask(_ request: Lease.Request?) {
    if let request { actions.append(.lease(request)) }
  }

  /// The number of bytes that a document of unknown size may have under a hard budget; `nil` for no limit.
  func byteLimit(of ready: Ready) -> Int64? {
    guard ready.step.storesDocument, let gate = gate(of: ready.ref), gates[gate].cutoff == .hard,
      documentSize(of: ready.ref) == nil
    else { return nil }
    return gates[gate].reservation(of: ready.ref)
  }

  /// The maximum size of the response bodies that a download of known size may receive without storing them, such as those
  /// of redirects, under a hard budget; `nil` for the usual limit. No bytes are reserved for them.
  func unwantedBodyLimit(of ready: Ready) -> Int64? {
    guard ready.step.storesDocument, let gate = gate(of: ready.ref), gates[gate].cutoff == .hard,
      documentSize(of: ready.ref) != nil
    else { return nil }
    return 64 << 10
  }

  /// The maximum number of times that a transfer or a single request may send its body under a hard budget; `nil` for no
  /// limit.
  func bodyCopies(of ready: Ready) -> Int64? {
    guard [.transfer, .request].contains(ready.step), let gate = gate(of: ready.ref),
      gates[gate].cutoff == .hard
    else {
      return nil
    }
    return self[attempts: ready.ref]?.bodyCopies ?? 1
  }

  /// Handles the end of a request that would have exceeded the bytes reserved for it under a hard budget.
  mutating func limit(_ flight: Flight, _ step: Step, _ part: PartProgress?, _ failure: RecordedFailure) {
    let ref = flight.attempt.ref
    // A document that a part continues needs less room the next time.
    if let limit = flight.attempt.byteLimit, (part?.kept ?? 0) == 0,
      !plan.canEverFit(limit +| 1, of: ref.node, isDiscretionary: isDiscretionary(ref))
    {
      return end(ref, .failed, .neverFits(moreThan: limit))
    }
    let gate = gate(of: ref)
    if let gate { gates[gate].release(ref) }
    guard flight.attempt.bodyCopies != nil else {
      guard stop == nil, let gate else { return leave(ref, failure) }
      // It would use up the rest of the budget again. The other requests can use it.
      gates[gate].putAside(ready(ref, flight.attempt.step))
      return offerRoom(of: gate)
    }
    // The server has received the body and redirected the request. The reservation of the next request includes
    // another copy of the body. The number of copies is limited by the maximum number of redirects.
    self[attempts: ref]?.bodyCopies += 1
    if let gate, let wanted = size(of: ready(ref, flight.attempt.step), gate),
      !plan.budgetsAllow(wanted, of: ref.node, isDiscretionary: isDiscretionary(ref))
    {
      return end(ref, .failed, .neverFits(wanted, copies: self[attempts: ref]?.bodyCopies ?? 1))
    }
    let startsOver = step.repeatability == .startsOver
    if startsOver { discardUploadID(ref, .startedOver) }
    again(ref, startsOver ? .allocate : flight.attempt.step)
  }
}

/// The gates of one session, as indices; `nil` if no budget limits it.
struct SessionGates: Sendable {
  var ofOthers: Int?
  /// The gate of discretionary tasks.
  var ofDiscretionary: Int?
}
