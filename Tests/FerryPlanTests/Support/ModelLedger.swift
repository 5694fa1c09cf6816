import FerryPlan

/// What the ledger would hold, of one process and others that the test makes up.
struct ModelLedger {
  private(set) var moved: [DeviceConditions.Network: [(at: Instant, bytes: Int64)]] = [:]
  private(set) var leased: [DeviceConditions.Network: Int64] = [:]

  /// What was moved in a window, by anyone.
  func used(_ network: DeviceConditions.Network, in window: Range<Instant>) -> Int64 {
    (moved[network] ?? []).reduce(0) { window.contains($1.at) ? $0 + $1.bytes : $0 }
  }

  mutating func lease(_ request: Lease.Request) -> Lease {
    let used = used(request.network, in: request.window) + (leased[request.network] ?? 0)
    let left = max(0, request.limit - used)
    let granted = left >= request.minimum ? min(request.wanted, left) : 0
    leased[request.network, default: 0] += granted
    return Lease(granted: granted, used: used)
  }

  /// Bytes that the sockets moved.
  mutating func settle(_ network: DeviceConditions.Network, bytes: Int64, at now: Instant) {
    moved[network, default: []].append((now, bytes))
    leased[network] = max(0, (leased[network] ?? 0) - bytes)
  }

  mutating func release() { leased = [:] }
}
