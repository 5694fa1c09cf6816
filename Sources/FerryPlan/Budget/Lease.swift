import FerryManifest

/// A lease from the ledger that all processes of a user share.
package struct Lease: Hashable, Sendable {
  /// The number of bytes that may be transferred; 0 if too little of one of the limits remains.
  package var granted: Int64
  /// The bytes that all processes had transferred or leased before this grant, for each limit of the request.
  package var used: [Int64]

  package init(granted: Int64, used: [Int64]) {
    self.granted = granted
    self.used = used
  }

  /// The networks whose bytes count against a limit.
  package typealias Scope = Budget.Scope

  /// A request to the ledger for a lease.
  package struct Request: Hashable, Sendable {
    /// The network on which the bytes will be transferred.
    package var network: DeviceConditions.Network
    /// The minimum useful number of bytes.
    package var minimum: Int64
    package var wanted: Int64
    /// The limits against which the lease counts.
    package var limits: [Limit]

    /// The limit of a budget in its present window.
    package struct Limit: Hashable, Sendable {
      package var scope: Scope
      /// The limit in bytes.
      package var bytes: Int64
      package var window: Range<Instant>
      /// Whether the grant stays within the limit. Otherwise, one remaining byte is enough (`cutoff: soft`).
      package var isStrict: Bool

      package init(scope: Scope, bytes: Int64, window: Range<Instant>, isStrict: Bool) {
        self.scope = scope
        self.bytes = bytes
        self.window = window
        self.isStrict = isStrict
      }
    }

    package init(
      network: DeviceConditions.Network, minimum: Int64, wanted: Int64, limits: [Limit]
    ) {
      self.network = network
      self.minimum = minimum
      self.wanted = wanted
      self.limits = limits
    }

    /// The number of bytes that the ledger grants.
    ///
    /// - Parameter used: the bytes that already count against each limit.
    package func grant(used: [Int64]) -> Int64 {
      var granted = wanted
      for (limit, used) in zip(limits, used) {
        let left = max(0, limit.bytes -| used)
        if limit.isStrict { granted = min(granted, left) }
        if left < (limit.isStrict ? minimum : 1) { return 0 }
      }
      return max(0, granted)
    }
  }
}
