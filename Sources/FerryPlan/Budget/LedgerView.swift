/// Replies as the ledger would, without leasing anything: for previews.
package struct LedgerView: Sendable {
  private var used: [DeviceConditions.Network: Int64]

  /// - Parameter used: bytes that count in each network's present window.
  package init(used: [DeviceConditions.Network: Int64]) { self.used = used }

  package mutating func lease(_ request: Lease.Request) -> Lease {
    let used = used[request.network] ?? 0
    let left = max(0, request.limit -| used)
    let granted = left < request.minimum ? 0 : min(request.wanted, left)
    self.used[request.network] = used +| granted
    return Lease(granted: granted, used: used)
  }
}
