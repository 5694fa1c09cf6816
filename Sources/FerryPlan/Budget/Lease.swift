/// A lease from the ledger that all processes of a user share.
package struct Lease: Hashable, Sendable {
  /// The number of bytes that may be sent; 0 if less than the minimum remains.
  package var granted: Int64
  /// The bytes that all processes had transferred or leased in the window before this grant.
  package var used: Int64

  package init(granted: Int64, used: Int64) {
    self.granted = granted
    self.used = used
  }

  /// A request to the ledger for a lease.
  package struct Request: Hashable, Sendable {
    package var network: DeviceConditions.Network
    /// A smaller lease would be useless.
    package var minimum: Int64
    package var wanted: Int64
    /// The limit of the window.
    package var limit: Int64
    package var window: Range<Instant>
  }
}
