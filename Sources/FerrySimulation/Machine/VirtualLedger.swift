import FerryManifest
import FerryPlan

/// A model of the ledger that all processes share: bytes by budget and window.
package struct VirtualLedger: Sendable {
  /// One window of one budget.
  package struct Account: Sendable {
    package var window: Range<Instant>
    /// Bytes transferred by all processes.
    package var moved: Int64 = 0
    /// Bytes leased by the running launch and not transferred yet.
    package var leased: Int64 = 0
    /// Bytes leased by processes that died. They count as used.
    package var lost: Int64 = 0

    package var used: Int64 { moved +| leased +| lost }
  }

  struct Key: Hashable, Sendable {
    var scope: Budget.Scope
    var begin: Instant
  }

  private(set) var accounts: [Key: Account] = [:]
  /// The accounts of the launch's leases.
  private var open: Set<Key> = []
  /// The network of the launch's leases.
  private var leased = DeviceConditions.Network.none
  let budgets: Budgets
  private let zones: [String: CalendarZone]
  /// For each budget, the window that was found last. The next instant is usually in the same window.
  private var recent: [Budget.Scope: Range<Instant>] = [:]

  package init(_ budgets: Budgets, zones: [String: CalendarZone]) {
    self.budgets = budgets
    self.zones = zones
  }

  /// Sets the bytes that already count against each budget in its window.
  mutating func begin(with used: [Budget.Scope: Int64], at now: Instant) {
    for (scope, bytes) in used {
      guard let window = budgets[scope].map({ window(of: scope, $0, at: now) }) else { continue }
      accounts[Key(scope: scope, begin: window.lowerBound)] = Account(window: window, moved: bytes)
    }
  }

  package func account(_ scope: Budget.Scope, _ window: Range<Instant>) -> Account {
    accounts[Key(scope: scope, begin: window.lowerBound)] ?? Account(window: window)
  }

  mutating func lease(_ request: Lease.Request, at now: Instant) -> Lease {
    let used = request.limits.map { account($0.scope, $0.window).used }
    let granted = request.grant(used: used)
    guard granted > 0 else { return Lease(granted: 0, used: used) }
    leased = request.network
    hold(granted, at: now)
    return Lease(granted: granted, used: used)
  }

  /// Counts bytes transferred on the launch's sockets. They first reduce the launch's lease in this window.
  mutating func settle(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) {
      $0.moved +|= bytes
      $0.leased = max(0, $0.leased -| bytes)
    }
  }

  mutating func othersMove(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    change(network, at: now) { $0.moved +|= bytes }
  }

  /// Returns the leased bytes that the launch has not transferred, except for this many, which count in the present windows.
  mutating func keep(_ bytes: Int64, at now: Instant) {
    let held = open.compactMap { accounts[$0]?.leased }.max() ?? 0
    for key in open { accounts[key]?.leased = 0 }
    open.removeAll(keepingCapacity: true)
    if min(held, bytes) > 0 { hold(min(held, bytes), at: now) }
  }

  /// Leased bytes count against every budget of their network, including those that do not limit the request.
  private mutating func hold(_ bytes: Int64, at now: Instant) {
    for key in keys(of: leased, at: now) {
      open.insert(key)
      accounts[key]?.leased +|= bytes
    }
  }

  /// Handles the death of a process that holds leases.
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
    for key in keys(of: network, at: now) {
      guard var account = accounts[key] else { continue }
      body(&account)
      accounts[key] = account
    }
  }

  /// Returns the keys of the accounts of a network's budgets. Creates accounts that do not exist yet.
  private mutating func keys(of network: DeviceConditions.Network, at now: Instant) -> [Key] {
    budgets.all(on: network).map { scope, budget in
      let window = window(of: scope, budget, at: now)
      let key = Key(scope: scope, begin: window.lowerBound)
      if accounts[key] == nil { accounts[key] = Account(window: window) }
      return key
    }
  }

  private mutating func window(of scope: Budget.Scope, _ budget: Budget, at now: Instant) -> Range<Instant> {
    if let window = recent[scope], window.contains(now) { return window }
    let window = budget.per.span(containing: now, in: zones[budget.timeZone] ?? .utc)
    recent[scope] = window
    return window
  }
}
