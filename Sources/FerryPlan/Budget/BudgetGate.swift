import FerryManifest

/// What a launch may send under the budget of the network that it is on.
///
/// It sends against what it has leased from the ledger that all processes of the user share, and knows of the
/// ledger only what the answers to its requests for leases say.
struct BudgetGate: Sendable {
  enum Admission: Sendable {
    case admitted
    /// It waits for a lease: one that is asked for with this, or one whose answer is awaited.
    case asks(Lease.Request?)
    case refused
  }

  /// A lease is not smaller, where the budget has as much: each costs a write that all processes see.
  static let smallestLease: Int64 = 1 << 20

  let network: DeviceConditions.Network
  let budget: Budget
  let zone: CalendarZone
  private(set) var window: Range<Instant>
  /// Leased and not moved yet.
  private(set) var held: Int64 = 0
  /// What was promised and is not sent yet, as far as the bytes moved tell.
  private var unsent: Int64 = 0
  private var reservations: [ItemRef: Int64] = [:]
  private var reserved: Int64 = 0
  /// Of the window, by all processes, at the last answer: what is moved and what is leased.
  private(set) var used: Int64?
  /// The request whose answer is awaited.
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

  /// Bytes that are leased and promised to nobody.
  private var free: Int64 { held -| unsent }

  /// Bytes that could be promised, as far as is known.
  var room: Int64 { free +| (left ?? 0) }

  /// Whether a place was promised its bytes.
  func isReserved(_ place: ItemRef) -> Bool { reservations[place] != nil }

  func reservation(of place: ItemRef) -> Int64? { reservations[place] }

  /// Asks for a place that will send `size` bytes; `nil` where that is not known.
  mutating func admit(_ place: ItemRef, size: Int64?) -> Admission {
    let wanted: Int64 =
      switch (budget.cutoff, size) {
      case (.soft, _): 1
      case (.cautious, let size?), (.hard, let size?): max(size, 1)
      case (.cautious, nil): 1
      // Whatever is there: its size is not known.
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

  /// Before a transfer starts: what was promised must still be leased, also after an attempt that failed.
  mutating func covers(_ place: ItemRef) -> Admission {
    guard isReserved(place), budget.cutoff != .soft, free < 0 else { return .admitted }
    if asked != nil { return .asks(nil) }
    if let left, left < -free { return .refused }
    return .asks(ask(-free, all: false))
  }

  /// What of the budget is leased by nobody, as far as is known.
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

  /// The place has ended: what it did not send is free again.
  mutating func release(_ place: ItemRef) {
    guard let bytes = reservations.removeValue(forKey: place) else { return }
    reserved -|= bytes
    unsent = min(unsent, reserved)
  }

  /// What an attempt sent in vain has to be sent again.
  mutating func sendsAgain(_ place: ItemRef, bytes: Int64) {
    guard isReserved(place), budget.cutoff != .soft else { return }
    unsent = min(unsent +| bytes, reserved)
  }

  /// What moves beyond the leases is of no promise, but header fields and small requests.
  mutating func moved(_ bytes: Int64) {
    let leased = min(bytes, held)
    held -|= leased
    unsent = max(0, unsent -| leased)
  }

  /// An answer to the request that was asked.
  mutating func answered(_ lease: Lease) {
    asked = nil
    held +|= lease.granted
    used = lease.used +| lease.granted
  }

  /// The next window begins where this one has ended; true where one has.
  mutating func roll(at now: Instant) -> Bool {
    guard now >= window.upperBound else { return false }
    window = budget.per.span(containing: now, in: zone)
    held = 0
    // What of the promises was sent is not known to the byte: header fields and small requests moved as well.
    unsent = reserved
    used = nil
    asked = nil
    return true
  }

  /// Why something of so many bytes waits.
  func reason(_ bytes: Int64) -> RecordedFailure {
    let used = used ?? 0
    return .init(
      code: "budget",
      message: "waits for the budget of \(network.rawValue) networks: "
        + "\(ByteText.text(used)) of \(ByteText.text(budget.limit)) used, \(ByteText.text(bytes)) wanted",
      // What is more than a whole window waits for another network, or for a change of the manifest.
      until: bytes > budget.limit ? nil : window.upperBound,
      budget: BudgetFigures(network: network, usedBytes: used, limitBytes: budget.limit))
  }
}

extension Budgets {
  /// The budget of a kind of network; `nil` has no limit.
  package subscript(network: DeviceConditions.Network) -> Budget? {
    switch network {
    case .wifi: wifi
    case .wired: wired
    case .cellular: cellular
    case .none: nil
    }
  }
}
