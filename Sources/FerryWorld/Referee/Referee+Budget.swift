import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for budgets, which limit what discretionary transfers send.
extension Referee {
  struct Account: Hashable {
    var network: DeviceConditions.Network
    var begin: Instant
  }

  private func budget(of network: DeviceConditions.Network) -> Budget? {
    switch network {
    case .wifi: plan.policies.budgets.wifi
    case .wired: plan.policies.budgets.wired
    case .cellular: plan.policies.budgets.cellular
    case .none: nil
    }
  }

  private func window(_ budget: Budget) -> Range<Instant> { budget.per.span(containing: now, in: .utc) }

  mutating func noteUsed(_ machine: VirtualMachine) {
    now = machine.now
    for network in DeviceConditions.Network.allCases {
      guard let budget = budget(of: network) else { continue }
      let window = window(budget)
      usedBefore[Account(network: network, begin: window.lowerBound)] =
        machine.ledger.account(network, window).used
    }
  }

  /// Whether the present network's budget decides when the node's transfers are sent.
  func isGated(_ node: NodeID, _ step: Step.Kind) -> Bool {
    guard budget(of: conditions.network) != nil else { return false }
    guard isDiscretionary(plan.sessions[plan.nodes[node.index].session.index]) else { return false }
    return [.transfer, .fetch, .request].contains(step)
  }

  /// Checks that no file larger than its budget is sent, except under a soft one.
  mutating func checkBudget(_ call: Call, _ name: String) {
    guard let budget = budget(of: conditions.network), budget.cutoff != .soft else { return }
    guard call.step == .transfer, call.size > budget.limit else { return }
    report(.budget, "\(name) of \(call.size) bytes was sent under a limit of \(budget.limit)")
  }

  /// Checks that the bodies of gated requests stay within the budget that remained when the launch began.
  mutating func moved(_ id: UInt64, _ network: DeviceConditions.Network, _ bytes: Int64) {
    guard bytes > 0, let flight = flights[id], let budget = budget(of: network) else { return }
    let session = plan.sessions[plan.nodes[flight.call.attempt.ref.node.index].session.index]
    // Small requests, and downloads of unknown size, are counted as they occur.
    guard isDiscretionary(session), flight.call.step == .transfer, budget.cutoff != .soft else { return }
    // An unrepeatable request continues when the network changes, and a canceled one takes a moment to end.
    guard !flight.isCancelled else { return }
    guard !flight.hasChangedNetwork || step(flight.call).repeatability != .once else { return }
    let account = Account(network: network, begin: window(budget).lowerBound)
    gatedBodies[account, default: 0] += bytes
    let left = max(0, budget.limit - (usedBefore[account] ?? 0))
    guard let moved = gatedBodies[account], moved > left else { return }
    report(
      .budget,
      "transfers have moved \(moved) bytes on \(network.rawValue), and \(left) remained (\(budget.cutoff.rawValue))"
    )
  }
}
