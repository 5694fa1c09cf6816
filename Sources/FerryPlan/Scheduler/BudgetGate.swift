import FerryManifest

/// Admits the requests of all sessions with the same budgets on the launch's current network.
///
/// Requests use bytes leased from the ledger, which all processes of the user share. The gate
/// determines the state of the ledger only from the replies to its lease requests.
struct BudgetGate: Sendable {
  enum Admission: Sendable {
    case admitted
    /// The step waits for a lease. The caller requests this lease or, if it is `nil`, waits for the reply to
    /// the pending request.
    case asks(Lease.Request?)
    case refused
  }

  /// A budget in its current window.
  struct Limit: Sendable {
    let scope: Budget.Scope
    let budget: Budget
    let zone: CalendarZone
    var window: Range<Instant>
    /// At the last reply, the bytes that all processes had transferred or leased in the window.
    var used: Int64?

    init(_ scope: Budget.Scope, _ budget: Budget, zone: CalendarZone, at now: Instant) {
      self.scope = scope
      self.budget = budget
      self.zone = zone
      window = budget.per.span(containing: now, in: zone)
    }

    /// The part of the budget that is not used or leased, as far as is known.
    var left: Int64? { used.map { max(0, budget.limit -| $0) } }
  }

  /// The minimum size of a lease, if that much of the budget remains. Each lease costs a write to the ledger,
  /// which all processes share.
  static let smallestLease: Int64 = 1 << 20

  let network: DeviceConditions.Network
  /// The limits, which all apply; not empty.
  private(set) var limits: [Limit]
  /// The strictest rule of the gate's budgets.
  let cutoff: Budget.Cutoff
  /// Bytes that are leased and not transferred yet.
  private(set) var held: Int64 = 0
  /// Reserved bytes that are not sent yet, as far as the transferred bytes show.
  private var unsent: Int64 = 0
  private var reservations: [ItemRef: Int64] = [:]
  /// The sum of `reservations` and `repeated`.
  private var reserved: Int64 = 0
  /// Bytes that have been sent, and have to be sent again in the same window.
  private var repeated: [ItemRef: Int64] = [:]
  /// The reservations of items whose sizes are unknown. They are only upper bounds.
  private var bounds: [ItemRef: Int64] = [:]
  /// The pending request.
  private(set) var asked: Lease.Request?
  /// Requests that wait for a lease or the next window.
  var waiters: [Ready] = []
  /// Those whose responses were too large for the rest of a window. In the windows that follow, they are sent after all
  /// other work, because they would use up each window first.
  private(set) var putAside: Set<ItemRef> = []
  /// Transfers that ask the server which bytes it has, or have done so, and for which no bytes have been reserved, by node.
  private var queried: [NodeID: Set<ItemRef>] = [:]
  /// Those whose responses were too large for the rest of the present window.
  private var limited: Set<ItemRef> = []

  /// - Parameter limits: not empty.
  init(network: DeviceConditions.Network, limits: [Limit]) {
    self.network = network
    self.limits = limits
    let cutoffs = Set(limits.map(\.budget.cutoff))
    cutoff = cutoffs.contains(.hard) ? .hard : cutoffs.contains(.cautious) ? .cautious : .soft
  }

  /// Removes and returns the requests that may fit now.
  mutating func takeWaiters() -> [Ready] {
    guard !putAside.isEmpty else {
      defer { waiters = [] }
      return waiters
    }
    let taken = waiters.filter { !putAside.contains($0.ref) }
    waiters.removeAll { !putAside.contains($0.ref) }
    return taken
  }

  /// Lets a request wait whose response was too large for the rest of this window.
  mutating func putAside(_ ready: Ready) {
    putAside.insert(ready.ref)
    limited.insert(ready.ref)
    waiters.append(ready)
  }

  /// Removes and returns a request that was put aside in an earlier window, if it may fit now.
  mutating func takePutAside() -> Ready? {
    guard left != 0 || free > 0,
      let index = waiters.firstIndex(where: { putAside.contains($0.ref) && !limited.contains($0.ref) })
    else { return nil }
    putAside.remove(waiters[index].ref)
    return waiters.remove(at: index)
  }

  /// The time at which the first of the gate's windows ends.
  var windowEnd: Instant { limits.reduce(.distantFuture) { min($0, $1.window.upperBound) } }

  /// Bytes that are leased and not reserved.
  private var free: Int64 { held -| unsent }

  /// Bytes that could be reserved, as far as is known.
  var room: Int64 { free +| (left ?? 0) }

  /// Whether bytes are reserved for an item, node or orphan.
  func isReserved(_ place: ItemRef) -> Bool { reservations[place] != nil }

  func reservation(of place: ItemRef) -> Int64? { reservations[place] }

  var hasReservations: Bool { !reservations.isEmpty }

  /// The items, nodes and orphans for which bytes are reserved, in a fixed order.
  var reservedPlaces: [ItemRef] {
    reservations.keys.sorted {
      ($0.node.index, $0.item ?? -1, $0.orphan ?? -1) < ($1.node.index, $1.item ?? -1, $1.orphan ?? -1)
    }
  }

  /// Whether the budgets have room for this number of bytes in a window in which nothing is used. If not, the transfer waits
  /// for another network.
  func fitsWindow(_ bytes: Int64) -> Bool {
    limits.allSatisfy { $0.budget.limit >= ($0.budget.cutoff == .soft ? 1 : bytes) }
  }

  /// Asks to transfer `size` bytes for an item, node or orphan, in addition to the bytes that are already
  /// reserved.
  ///
  /// - Parameters:
  ///   - size: `nil` if it is unknown.
  ///   - bound: the number of bytes that are sufficient if the size is unknown.
  mutating func admit(_ place: ItemRef, size: Int64?, atMost bound: Int64 = .max) -> Admission {
    let wanted: Int64 =
      switch (cutoff, size) {
      case (.soft, _): 1
      case (.cautious, let size?), (.hard, let size?): max(size, 1)
      case (.cautious, nil): 1
      // The size is unknown, so ask for everything that is available.
      case (.hard, nil): max(min(room, bound), 1)
      }
    if asked != nil { return .asks(nil) }
    if free >= wanted {
      reserve(wanted, for: place)
      if size == nil { bounds[place] = wanted }
      return .admitted
    }
    if refuses(wanted) { return .refused }
    let isUnknown = cutoff == .hard && size == nil
    return .asks(isUnknown ? ask(1, wanting: bound) : ask(wanted -| free))
  }

  /// Checks, before a transfer starts, that its reservation is still covered by leases, even after a failed
  /// attempt.
  mutating func covers(_ place: ItemRef) -> Admission {
    guard isReserved(place), cutoff != .soft, free < 0 else { return .admitted }
    if asked != nil { return .asks(nil) }
    if refuses(0) { return .refused }
    return .asks(ask(-free))
  }

  /// Whether leases cover the reservation now. Unlike `covers`, this method does not request a lease.
  func isCovered(_ place: ItemRef) -> Bool { isReserved(place) && (cutoff == .soft || free >= 0) }

  /// The number of bytes that the strict limits still allow; `nil` if none of them is known.
  private var left: Int64? {
    limits.filter(isStrict).compactMap(\.left).min()
  }

  /// Whether a grant must stay within a limit. If limits have different rules, a soft limit requires only one
  /// remaining byte.
  private func isStrict(_ limit: Limit) -> Bool { limit.budget.cutoff != .soft || cutoff == .soft }

  /// Whether a limit is known to leave too little for this number of bytes.
  private func refuses(_ wanted: Int64) -> Bool { limits.contains { refuses($0, wanted) } }

  private func refuses(_ limit: Limit, _ wanted: Int64) -> Bool {
    guard let left = limit.left else { return false }
    return isStrict(limit) ? free +| left < wanted : left < 1 && free < wanted
  }

  /// Lets a request ask the server which bytes of a file it has. No bytes are reserved for it.
  mutating func query(_ place: ItemRef) {
    if !isReserved(place) { queried[place.node, default: []].insert(place) }
  }

  mutating func endQuery(_ place: ItemRef) {
    if !queried.isEmpty { queried[place.node]?.remove(place) }
  }

  /// The number of the node's transfers that only ask the server which bytes it has, or wait after that.
  func queries(of node: NodeID) -> Int { queried.isEmpty ? 0 : queried[node]?.count ?? 0 }

  private mutating func reserve(_ bytes: Int64, for place: ItemRef) {
    endQuery(place)
    reservations[place, default: 0] +|= bytes
    reserved +|= bytes
    unsent +|= bytes
  }

  private mutating func ask(_ minimum: Int64, wanting wanted: Int64 = 0) -> Lease.Request {
    let request = Lease.Request(
      network: network, minimum: minimum, wanted: max(wanted, minimum, Self.smallestLease),
      limits: limits.map {
        .init(scope: $0.scope, bytes: $0.budget.limit, window: $0.window, isStrict: isStrict($0))
      })
    asked = request
    return request
  }

  /// Releases the reservation of an item, node or orphan that has ended: the bytes that it did not send are
  /// free again.
  ///
  /// - Parameter sent: the bytes that it certainly sent. Bytes that were counted in another gate are not free.
  mutating func release(_ place: ItemRef, sent: Int64 = 0) {
    guard let bytes = reservations.removeValue(forKey: place) else { return }
    reserved -|= bytes +| (repeated.removeValue(forKey: place) ?? 0)
    bounds[place] = nil
    settle(sent: sent)
  }

  /// Limits the unsent bytes to the reserved bytes.
  private mutating func settle(sent: Int64) {
    let excess = max(0, unsent -| reserved)
    unsent -= excess
    held -= min(held, excess, sent)
  }

  /// Releases a part of the reservation of an item, after one of several requests for its file has ended.
  mutating func release(_ place: ItemRef, bytes: Int64, sent: Int64) {
    guard let all = reservations[place], bytes < all else { return release(place, sent: sent) }
    reservations[place] = all - bytes
    reserved -|= bytes
    settle(sent: sent)
  }

  /// Records that the bytes that a failed attempt sent have to be sent again. They need further leases.
  mutating func sendsAgain(_ place: ItemRef, bytes: Int64) {
    guard isReserved(place), cutoff != .soft else { return }
    repeated[place, default: 0] +|= bytes
    reserved +|= bytes
    unsent +|= bytes
  }

  /// Counts transferred bytes. Bytes beyond the leases are header fields and small requests, which have no
  /// reservation.
  mutating func moved(_ bytes: Int64) {
    let leased = min(bytes, held)
    held -|= leased
    unsent = max(0, unsent -| leased)
  }

  /// The part of the transferred bytes that the gate's reservations account for.
  ///
  /// - Parameter isExact: whether only reservations of known sizes count.
  func share(of bytes: Int64, isExact: Bool) -> Int64 {
    min(bytes, isExact ? max(0, unsent -| bounds.values.reduce(0, +|)) : unsent)
  }

  /// Processes the reply to the pending request.
  mutating func answered(_ lease: Lease) {
    asked = nil
    held +|= lease.granted
    for (index, used) in lease.used.enumerated() where limits.indices.contains(index) {
      limits[index].used = used +| lease.granted
    }
  }

  /// Gives up leased bytes of which other processes can make use, because much more was reserved than was sent. Returns
  /// whether there are such bytes.
  mutating func giveUpSurplus() -> Bool {
    let surplus = free -| Self.smallestLease
    guard surplus > 0 else { return false }
    held -= surplus
    for index in limits.indices { limits[index].used = limits[index].used.map { max(0, $0 -| surplus) } }
    return true
  }

  /// Begins the next window of each budget whose window has ended. Returns whether there is such a budget.
  mutating func roll(at now: Instant) -> Bool {
    guard now >= windowEnd else { return false }
    for index in limits.indices where now >= limits[index].window.upperBound {
      limits[index].window = limits[index].budget.per.span(containing: now, in: limits[index].zone)
    }
    limited = []
    return true
  }

  /// Keeps only the leases for reserved bytes that are not sent yet. Whatever the ledger has replied applies to another
  /// window.
  mutating func keepReserved() {
    held = max(0, min(held, unsent))
    for bytes in repeated.values { reserved -|= bytes }
    repeated = [:]
    // The part of the reservations that was sent is not known exactly, because header fields and small requests were also
    // counted. Other requests therefore wait until all reserved bytes are leased.
    unsent = reserved
    asked = nil
    for index in limits.indices { limits[index].used = nil }
  }

  /// The reason why a transfer of this number of bytes has to wait.
  ///
  /// - Parameter place: the transfer's item or node, if bytes may be reserved for it already.
  func reason(_ bytes: Int64, for place: ItemRef? = nil) -> RecordedFailure {
    let refused = place.map(isReserved) == true ? 0 : bytes
    // If none is known to refuse it, the one with the least room.
    let limit =
      limits.first { refuses($0, refused) } ?? limits.min { $0.left ?? .max < $1.left ?? .max } ?? limits[0]
    let used = limit.used ?? 0
    return .init(
      code: .budget,
      message: "waiting for the budget of \(limit.scope.networks): "
        + "\(ByteText.text(used)) of \(ByteText.text(limit.budget.limit)) used, \(ByteText.text(bytes)) wanted",
      // A transfer that exceeds a whole budget waits for a different network, or for a change of the manifest.
      until: bytes > limit.budget.limit ? nil : limit.window.upperBound,
      budget: BudgetFigures(network: limit.scope, usedBytes: used, limitBytes: limit.budget.limit))
  }
}

extension Budget.Scope {
  /// The networks in words, as in `the budget of wired networks`.
  package var networks: String {
    switch self {
    case .wifi, .wired, .cellular: "\(rawValue) networks"
    case .any: "all networks together"
    }
  }

  /// The scope of a network's own budget; `nil` without a network.
  package init?(_ network: DeviceConditions.Network) {
    switch network {
    case .wifi: self = .wifi
    case .wired: self = .wired
    case .cellular: self = .cellular
    case .none: return nil
    }
  }
}

extension Budgets {
  /// The budgets that count the bytes transferred on a network, with their scopes.
  package func all(on network: DeviceConditions.Network) -> [(scope: Budget.Scope, budget: Budget)] {
    guard let own = Budget.Scope(network) else { return [] }
    return [own, .any].compactMap { scope in self[scope].map { (scope, $0) } }
  }

  /// The budgets that limit the transfers of a session on a network.
  package func limits(
    on network: DeviceConditions.Network, isDiscretionary: Bool
  ) -> [(scope: Budget.Scope, budget: Budget)] {
    all(on: network).filter { $0.budget.binds == .all || isDiscretionary }
  }
}
