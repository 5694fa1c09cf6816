import FerryManifest

/// What the ledger of all processes would hold: bytes by network and window.
package struct VirtualLedger: Sendable {
  /// One window of one network's budget.
  package struct Account: Sendable {
    package var window: Range<Instant>
    /// By anyone.
    package var moved: Int64 = 0
    /// By the launch that runs, and not moved yet.
    package var leased: Int64 = 0
    /// By processes that died: it counts as used.
    package var lost: Int64 = 0

    package var used: Int64 { moved +| leased +| lost }
  }

  struct Key: Hashable, Sendable {
    var network: DeviceConditions.Network
    var begin: Instant
  }

  private(set) var accounts: [Key: Account] = [:]
  /// Accounts of which the launch has leased.
  private var open: Set<Key> = []
  let budgets: Budgets
  private let zones: [String: CalendarZone]
  /// Of the last call: a moment mostly lies in the window of the one before.
  private var recent: [Range<Instant>?] = [nil, nil, nil]

  package init(_ budgets: Budgets, zones: [String: CalendarZone]) {
    self.budgets = budgets
    self.zones = zones
  }

  package func account(_ network: DeviceConditions.Network, _ window: Range<Instant>) -> Account {
    accounts[Key(network: network, begin: window.lowerBound)] ?? Account(window: window)
  }

  mutating func lease(_ request: Lease.Request) -> Lease {
    let key = Key(network: request.network, begin: request.window.lowerBound)
    var account = accounts[key] ?? Account(window: request.window)
    let used = account.used
    let left = max(0, request.limit -| used)
    let granted = left >= request.minimum ? min(request.wanted, left) : 0
    account.leased +|= granted
    accounts[key] = account
    if granted > 0 { open.insert(key) }
    return Lease(granted: granted, used: used)
  }

  /// Bytes that the launch's sockets moved: out of what it has leased in this window first.
  mutating func settle(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) {
      $0.moved +|= bytes
      $0.leased = max(0, $0.leased -| bytes)
    }
  }

  mutating func othersMove(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) { $0.moved +|= bytes }
  }

  /// Gives back what the launch has leased and not moved.
  mutating func release() {
    for key in open { accounts[key]?.leased = 0 }
    open.removeAll(keepingCapacity: true)
  }

  /// The process died with its leases.
  mutating func loseLeases() {
    for key in open {
      guard let leased = accounts[key]?.leased else { continue }
      accounts[key]?.lost +|= leased
      accounts[key]?.leased = 0
    }
    open.removeAll(keepingCapacity: true)
  }

  private mutating func change(
    _ network: DeviceConditions.Network, at now: Instant, _ body: (inout Account) -> Void
  ) {
    guard let window = window(of: network, at: now) else { return }
    let key = Key(network: network, begin: window.lowerBound)
    var account = accounts[key] ?? Account(window: window)
    body(&account)
    accounts[key] = account
  }

  /// `nil` where the network has no budget.
  private mutating func window(of network: DeviceConditions.Network, at now: Instant) -> Range<Instant>? {
    guard let budget = budgets[network] else { return nil }
    let index =
      switch network {
      case .wifi, .none: 0
      case .wired: 1
      case .cellular: 2
      }
    if let window = recent[index], window.contains(now) { return window }
    let window = budget.per.span(containing: now, in: zones[budget.timeZone] ?? .utc)
    recent[index] = window
    return window
  }
}
