import FerryManifest

/// Computes the leases that the ledger would grant, without leasing anything, for previews.
package struct LedgerView: Sendable {
  private var used: [Budget.Scope: Int64]

  /// - Parameter used: bytes that count against each budget in its present window.
  package init(used: [Budget.Scope: Int64]) { self.used = used }

  package mutating func lease(_ request: Lease.Request) -> Lease {
    let used = request.limits.map { self.used[$0.scope] ?? 0 }
    let granted = request.grant(used: used)
    for limit in request.limits { self.used[limit.scope, default: 0] +|= granted }
    return Lease(granted: granted, used: used)
  }
}
