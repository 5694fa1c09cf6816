import FerryManifest

/// The use of a budget in its present window. Its keys are part of the public interface.
package struct BudgetUse: Hashable, Codable, Sendable {
  /// The kind of network, or `any` for all networks together.
  package var network: Budget.Scope
  /// The bytes that all processes of the user have transferred in the window, plus the bytes that they may
  /// still transfer.
  package var usedBytes: Int64
  package var limitBytes: Int64
  package var cutoff: Budget.Cutoff
  /// The sessions that the budget limits.
  package var binds: Budget.Binding
  package var window: Window

  package struct Window: Hashable, Codable, Sendable {
    package var per: Budget.Window
    package var timeZone: String
    /// The start of the window, in RFC 3339 format.
    package var from: String
    /// The start of the next window.
    package var until: String
  }

  package init(
    _ budget: Budget, network: Budget.Scope, usedBytes: Int64, window: Range<Instant>
  ) {
    self.network = network
    self.usedBytes = usedBytes
    limitBytes = budget.limit
    cutoff = budget.cutoff
    binds = budget.binds
    self.window = Window(
      per: budget.per, timeZone: budget.timeZone, from: window.lowerBound.rfc3339,
      until: window.upperBound.rfc3339)
  }
}
