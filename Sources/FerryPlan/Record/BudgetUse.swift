import FerryManifest

/// How far the budget of a kind of network is used in its present window. Its keys are an interface.
package struct BudgetUse: Hashable, Codable, Sendable {
  package var network: DeviceConditions.Network
  /// Of the window, by all processes of the user: what was moved, and what they may still move.
  package var usedBytes: Int64
  package var limitBytes: Int64
  package var cutoff: Budget.Cutoff
  package var window: Window

  package struct Window: Hashable, Codable, Sendable {
    package var per: Budget.Window
    package var timeZone: String
    /// RFC 3339.
    package var from: String
    /// Where the next window begins.
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
