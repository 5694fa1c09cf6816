/// An answer of the ledger that all processes of a user share.
package struct Lease: Hashable, Sendable {
  /// Bytes that may be sent; 0 where less than the minimum is left.
  package var granted: Int64
  /// Of the window, before this grant: what was moved and what is leased, by all processes.
  package var used: Int64

  package init(granted: Int64, used: Int64) {
    self.granted = granted
    self.used = used
  }

  /// What a launch asks the ledger for.
  package struct Request: Hashable, Sendable {
    package var network: DeviceConditions.Network
    /// Less is of no use.
    package var minimum: Int64
    package var wanted: Int64
    /// Of the window.
    package var limit: Int64
    package var window: Range<Instant>
  }
}
