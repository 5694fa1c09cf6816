import FerryManifest

/// Budgets: how much discretionary transfers may send.
extension Scheduler {
  /// Whether a budget decides when the node's transfers start.
  func isGated(_ node: NodeID) -> Bool {
    gate != nil && plan.sessions[session(of: node).index].isDiscretionary(in: options.launch)
  }

  mutating func openGate() {
    gate = plan.policies.budgets[conditions.network].map { budget in
      BudgetGate(
        network: conditions.network, budget: budget, zone: options.zones[budget.timeZone] ?? .utc, at: now)
    }
  }

  /// Switches to the budget of another network. Reservations under the old budget remain valid.
  mutating func changeGate() {
    let old = gate
    if old != nil { actions.append(.releaseLeases) }
    openGate()
    for ready in old?.waiters ?? [] { enqueue(ready) }
    returnSkipped()
  }

  /// Begins the next window: items that did not fit the last one go first.
  mutating func rollGate() {
    guard gate?.roll(at: now) == true else { return }
    actions.append(.releaseLeases)
    returnSkipped()
    returnWaiters()
  }

  /// Takes a lease, unless its request was for another window or network: that lease has been returned.
  mutating func take(_ lease: Lease, for request: Lease.Request) {
    guard gate?.asked == request else { return }
    gate?.answered(lease)
    returnWaiters()
  }

  private mutating func returnWaiters() {
    let waiters = gate?.waiters ?? []
    gate?.waiters = []
    for ready in waiters { enqueue(ready) }
  }

  private mutating func returnSkipped() {
    for upload in uploads.indices where !uploads[upload].skipped.isEmpty {
      let items = uploads[upload].skipped.unordered.map(\.item).sorted()
      uploads[upload].skipped = .init()
      uploads[upload].isHandled = false
      uploads[upload].pending.prepend(items)
    }
  }

  /// Releases the reservation of an item, node or orphan that has ended. The part that it did not use may let
  /// others start, smallest first.
  mutating func releaseReservation(_ ref: ItemRef) {
    guard gate?.isReserved(ref) == true else { return }
    gate?.release(ref)
    guard let room = gate?.room, room > 0 else { return }
    returnWaiters()
    for upload in uploads.indices {
      guard let least = uploads[upload].skipped.min, least.size <= room else { continue }
      uploads[upload].skipped.removeMin()
      uploads[upload].isHandled = false
      uploads[upload].pending.prepend([least.item])
    }
  }

  /// Whether a request that is about to be sent is covered by the budget. If not, it waits: for a lease, or
  /// for the next window.
  mutating func isCovered(_ ready: Ready) -> Bool {
    guard isGated(ready.ref.node) else { return true }
    switch ready.step.traits.budget {
    case .never: return true
    case .defers: return isReleaseCovered(ready)
    case .reserves: break
    }
    switch admission(of: ready) {
    case .admitted, nil: return true
    case .asks(let request):
      ask(request)
      gate?.waiters.append(ready)
      return false
    case .refused:
      gate?.waiters.append(ready)
      return false
    }
  }

  /// Reserves what the request needs. The size of a file that is sent is known, and more may have to be leased for
  /// another attempt.
  private mutating func admission(of ready: Ready) -> BudgetGate.Admission? {
    let size = ready.ref.item.flatMap { item in
      uploadIndex[ready.ref.node.index].map { uploads[$0].items.files.sizes[item] }
    }
    guard gate?.isReserved(ready.ref) == true else { return gate?.admit(ready.ref, size: size) }
    return ready.step.traits.content == .sent ? gate?.covers(ready.ref) : .admitted
  }

  /// The release of an upload ID does not wait for another window: the next run tries it again.
  private mutating func isReleaseCovered(_ ready: Ready) -> Bool {
    guard gate?.isReserved(ready.ref) == false else { return true }
    switch gate?.admit(ready.ref, size: 1) {
    case .admitted, nil: return true
    case .asks(let request):
      ask(request)
      gate?.waiters.append(ready)
    case .refused: leave(ready.ref, gate?.reason(1) ?? stopReason)
    }
    return false
  }

  mutating func ask(_ request: Lease.Request?) {
    if let request { actions.append(.lease(request)) }
  }

  /// How many bytes a fetch, whose size is unknown, may transfer under a hard budget.
  func byteLimit(of ready: Ready) -> Int64? {
    guard ready.step == .fetch, let gate, gate.budget.cutoff == .hard, isGated(ready.ref.node) else {
      return nil
    }
    return gate.reservation(of: ready.ref)
  }
}

extension Plan {
  /// Whether a file of this size fits the budget of any network that its session may use.
  package func canEverFit(_ size: Int64, session: SessionID) -> Bool {
    let session = sessions[session.index]
    return DeviceConditions.Network.allCases.contains { network in
      if network == .none || network == .cellular && !(session.allowsCellular && session.allowsExpensive) {
        return false
      }
      guard let budget = policies.budgets[network], budget.cutoff != .soft else { return true }
      return size <= budget.limit
    }
  }
}

extension RecordedFailure {
  /// The failure of an item that does not fit any budget.
  static func neverFits(_ size: Int64) -> RecordedFailure {
    .init(
      code: .budgetNever,
      message: "\(ByteText.text(size)) are more than the budget of any network that its session may use")
  }
}
