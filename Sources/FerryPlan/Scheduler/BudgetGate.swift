import FerryManifest

/// What a launch may send under the budget of its present network.
///
/// It uses bytes that it has leased from the ledger, which all processes of the user share. It knows the
/// state of the ledger only from the replies to its lease requests.
struct BudgetGate: Sendable {
  enum Admission: Sendable {
    case admitted
    /// It waits for a lease: request this one, or if it is `nil`, wait for the reply to the pending request.
    case asks(Lease.Request?)
    case refused
  }

  /// The minimum size of a lease, if the budget has that much left: each lease costs a write that all
  /// processes see.
  static let smallestLease: Int64 = 1 << 20

  let network: DeviceConditions.Network
  let budget: Budget
  let zone: CalendarZone
  private(set) var window: Range<Instant>
  /// Bytes that are leased and not transferred yet.
  private(set) var held: Int64 = 0
  /// Reserved bytes that are not sent yet, as far as the transferred bytes show.
  private var unsent: Int64 = 0
  private var reservations: [ItemRef: Int64] = [:]
  private var reserved: Int64 = 0
  /// At the last reply, the bytes that all processes had transferred or leased in the window.
  private(set) var used: Int64?
  /// The pending request.
  private(set) var asked: Lease.Request?
  /// Requests that wait for a lease or the next window.
  var waiters: [Ready] = []

  init(
    network: DeviceConditions.Network, budget: Budget, zone: CalendarZone, at now: Instant
  ) {
    self.network = network
    self.budget = budget
    self.zone = zone
    window = budget.per.span(containing: now, in: zone)
  }

  /// Bytes that are leased and not reserved.
  private var free: Int64 { held -| unsent }

  /// Bytes that could be reserved, as far as is known.
  var room: Int64 { free +| (left ?? 0) }

  /// Whether bytes are reserved for an item, node or orphan.
  func isReserved(_ place: ItemRef) -> Bool { reservations[place] != nil }

  func reservation(of place: ItemRef) -> Int64? { reservations[place] }

  /// Asks to send `size` bytes for an item, node or orphan; `size` is `nil` if it is unknown.
  mutating func admit(_ place: ItemRef, size: Int64?) -> Admission {
    let wanted: Int64 =
      switch (budget.cutoff, size) {
      case (.soft, _): 1
      case (.cautious, let size?), (.hard, let size?): max(size, 1)
      case (.cautious, nil): 1
      // All that is available, because the size is unknown.
      case (.hard, nil): max(room, 1)
      }
    if asked != nil { return .asks(nil) }
    if free >= wanted {
      reserve(wanted, for: place)
      return .admitted
    }
    if let left, free +| left < wanted { return .refused }
    let isUnknown = budget.cutoff == .hard && size == nil
    return .asks(ask(isUnknown ? 1 : wanted -| free, all: isUnknown))
  }

  /// Checks before a transfer starts that its reservation is still covered by leases, also after a failed
  /// attempt.
  mutating func covers(_ place: ItemRef) -> Admission {
    guard isReserved(place), budget.cutoff != .soft, free < 0 else { return .admitted }
    if asked != nil { return .asks(nil) }
    if let left, left < -free { return .refused }
    return .asks(ask(-free, all: false))
  }

  /// The part of the budget that is not used or leased, as far as is known.
  private var left: Int64? { used.map { max(0, budget.limit -| $0) } }

  private mutating func reserve(_ bytes: Int64, for place: ItemRef) {
    reservations[place] = bytes
    reserved +|= bytes
    unsent +|= bytes
  }

  private mutating func ask(_ minimum: Int64, all: Bool) -> Lease.Request {
    let request = Lease.Request(
      network: network, minimum: minimum, wanted: all ? .max : max(minimum, Self.smallestLease),
      limit: budget.limit, window: window)
    asked = request
    return request
  }

  /// Releases the reservation of an item, node or orphan that has ended: the bytes that it did not send are
  /// free again.
  mutating func release(_ place: ItemRef) {
    guard let bytes = reservations.removeValue(forKey: place) else { return }
    reserved -|= bytes
    unsent = min(unsent, reserved)
  }

  /// Bytes that a failed attempt sent have to be sent again.
  mutating func sendsAgain(_ place: ItemRef, bytes: Int64) {
    guard isReserved(place), budget.cutoff != .soft else { return }
    unsent = min(unsent +| bytes, reserved)
  }

  /// Counts transferred bytes. Bytes beyond the leases are header fields and small requests, which have no
  /// reservation.
  mutating func moved(_ bytes: Int64) {
    let leased = min(bytes, held)
    held -|= leased
    unsent = max(0, unsent -| leased)
  }

  /// Takes the reply to the pending request.
  mutating func answered(_ lease: Lease) {
    asked = nil
    held +|= lease.granted
    used = lease.used +| lease.granted
  }

  /// Begins the next window if this one has ended, and returns whether it did.
  mutating func roll(at now: Instant) -> Bool {
    guard now >= window.upperBound else { return false }
    window = budget.per.span(containing: now, in: zone)
    held = 0
    // How much of the reservations was sent is not known exactly, because header fields and small requests
    // were also counted.
    unsent = reserved
    used = nil
    asked = nil
    return true
  }

  /// Why a transfer of this number of bytes waits.
  func reason(_ bytes: Int64) -> RecordedFailure {
    let used = used ?? 0
    return .init(
      code: .budget,
      message: "waits for the budget of \(network.rawValue) networks: "
        + "\(ByteText.text(used)) of \(ByteText.text(budget.limit)) used, \(ByteText.text(bytes)) wanted",
      // If it exceeds the whole budget, it waits for another network, or for a change of the manifest.
      until: bytes > budget.limit ? nil : window.upperBound,
      budget: BudgetFigures(network: network, usedBytes: used, limitBytes: budget.limit))
  }
}

extension Budgets {
  /// The budget for a kind of network; `nil` if it has no limit.
  package subscript(network: DeviceConditions.Network) -> Budget? {
    switch network {
    case .wifi: wifi
    case .wired: wired
    case .cellular: cellular
    case .none: nil
    }
  }
}
