import FerryManifest
import FerryPlan

/// A model of the ledger that all processes share: bytes by network and window.
package struct VirtualLedger: Sendable {
  /// One window of one network's budget.
  package struct Account: Sendable {
    package var window: Range<Instant>
    /// By all processes.
    package var moved: Int64 = 0
    /// Leased by the running launch, and not transferred yet.
    package var leased: Int64 = 0
    /// Leased by processes that died: these bytes count as used.
    package var lost: Int64 = 0

    package var used: Int64 { moved +| leased +| lost }
  }

  struct Key: Hashable, Sendable {
    var network: DeviceConditions.Network
    var begin: Instant
  }

  private(set) var accounts: [Key: Account] = [:]
  /// The accounts of the launch's leases.
  private var open: Set<Key> = []
  let budgets: Budgets
  private let zones: [String: CalendarZone]
  /// The window of the last call for each network: usually, the next time is in the same window.
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

  /// Counts bytes that the launch's sockets transferred, which first reduce its lease in this window.
  mutating func settle(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) {
      $0.moved +|= bytes
      $0.leased = max(0, $0.leased -| bytes)
    }
  }

  mutating func othersMove(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) { $0.moved +|= bytes }
  }

  /// Returns what the launch has leased and not transferred.
  mutating func release() {
    for key in open { accounts[key]?.leased = 0 }
    open.removeAll(keepingCapacity: true)
  }

  /// The process died while it held leases.
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

  /// `nil` if the network has no budget.
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
