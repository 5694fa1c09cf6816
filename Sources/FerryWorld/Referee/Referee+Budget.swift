import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for budgets. A budget limits the bytes that the sessions that it binds may transfer.
extension Referee {
  struct Account: Hashable {
    var scope: Budget.Scope
    var begin: Instant
  }

  /// The budgets that apply to a session on a network: the network's own budget, and the budget for all
  /// networks.
  private func budgets(
    of network: DeviceConditions.Network, isDiscretionary: Bool
  ) -> [(scope: Budget.Scope, budget: Budget)] {
    let own: (Budget.Scope, Budget?)? =
      switch network {
      case .wifi: (.wifi, plan.policies.budgets.wifi)
      case .wired: (.wired, plan.policies.budgets.wired)
      case .cellular: (.cellular, plan.policies.budgets.cellular)
      case .none: nil
      }
    guard let own else { return [] }
    return [own, (.any, plan.policies.budgets.any)].compactMap { scope, budget in
      guard let budget, budget.binds == .all || isDiscretionary else { return nil }
      return (scope, budget)
    }
  }

  private func window(_ budget: Budget) -> Range<Instant> { budget.per.span(containing: now, in: .utc) }

  mutating func noteUsed(_ machine: VirtualMachine) {
    now = machine.now
    let all = plan.policies.budgets
    for (scope, budget) in [
      (Budget.Scope.wifi, all.wifi), (.wired, all.wired), (.cellular, all.cellular), (.any, all.any),
    ] {
      guard let window = budget.map(window) else { continue }
      usedBefore[Account(scope: scope, begin: window.lowerBound)] = machine.ledger.account(scope, window).used
    }
  }

  /// Whether a budget that applies on the current network may delay the node's transfers.
  func isGated(_ node: NodeID) -> Bool {
    let session = plan.sessions[plan.nodes[node.index].session.index]
    return !budgets(of: conditions.network, isDiscretionary: session.discretionary != .no).isEmpty
  }

  /// Checks that a file larger than its budget is transferred only under a soft budget.
  mutating func checkBudget(_ call: Call, _ name: String, _ isDiscretionary: Bool) {
    guard call.step.transfersItem else { return }
    let size = call.step == .download ? call.fileSize : call.size
    for (_, budget) in budgets(of: conditions.network, isDiscretionary: isDiscretionary)
    where budget.cutoff != .soft && size > budget.limit {
      report(.budget, "\(name) of \(size) bytes was sent under a limit of \(budget.limit)")
    }
  }

  /// Checks that the bodies of gated requests stay within the budgets that remained when the launch began.
  mutating func moved(_ id: UInt64, _ network: DeviceConditions.Network, _ bytes: Int64) {
    guard bytes > 0, let flight = flights[id] else { return }
    // Small requests and fetches are counted as they occur.
    let limit = flight.call.attempt.bodyLimit ?? 0
    guard flight.call.step.transfersItem || bytes > 100 && limit > 16 << 10 else { return }
    // An unrepeatable request continues when the network changes, and a canceled one takes a moment to end.
    guard !flight.isCancelled else { return }
    guard !flight.hasChangedNetwork || step(flight.call).repeatability != .once else { return }
    for (scope, budget) in budgets(of: network, isDiscretionary: flight.isDiscretionary)
    where budget.cutoff != .soft {
      let account = Account(scope: scope, begin: window(budget).lowerBound)
      gatedBodies[account, default: 0] += bytes
      let left = max(0, budget.limit - (usedBefore[account] ?? 0))
      guard let moved = gatedBodies[account], moved > left else { continue }
      report(
        .budget,
        "transfers have moved \(moved) bytes on \(scope.rawValue), and \(left) remained (\(budget.cutoff.rawValue))"
      )
    }
  }
}
