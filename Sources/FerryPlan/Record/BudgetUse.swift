import FerryManifest

/// The use of the budget for a kind of network in its present window. Its keys are part of the public
/// interface.
package struct BudgetUse: Hashable, Codable, Sendable {
  package var network: DeviceConditions.Network
  /// The bytes that all processes of the user have transferred in the window, plus those that they may still
  /// transfer.
  package var usedBytes: Int64
  package var limitBytes: Int64
  package var cutoff: Budget.Cutoff
  package var window: Window

  package struct Window: Hashable, Codable, Sendable {
    package var per: Budget.Window
    package var timeZone: String
    /// RFC 3339.
    package var from: String
    /// The start of the next window.
    package var until: String
  }

  package init(
    _ budget: Budget, network: DeviceConditions.Network, usedBytes: Int64, window: Range<Instant>
  ) {
    self.network = network
    self.usedBytes = usedBytes
    limitBytes = budget.limit
    cutoff = budget.cutoff
    self.window = Window(
      per: budget.per, timeZone: budget.timeZone, from: window.lowerBound.rfc3339,
      until: window.upperBound.rfc3339)
  }
}
