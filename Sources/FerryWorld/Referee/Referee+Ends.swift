import FerryPlan
import FerrySimulation

/// The rules for the end of a launch and the end of the world.
extension Referee {
  package mutating func stuck() { report(.stuck, "no event is pending, but the launch has not ended") }

  package mutating func launchEnded(_ machine: VirtualMachine) {
    guard machine.hasEnded else { return }
    if let deadline = options.deadline {
      let end = deadline.advanced(by: options.grace + .milliseconds(1_500))
      if now > end, now > startedAt.advanced(by: .milliseconds(1_500)) {
        report(.deadline, "it ended \(deadline.duration(to: now)) after its deadline")
      }
    }
    let items = machine.scheduler.totals.items
    let sum =
      items.done + items.failed + items.ambiguous + items.cancelled + items.waiting + items.unchanged
      + (items.skipped ?? 0)
    var known = 0
    var unlisted = 0
    for index in plan.nodes.indices {
      known += tableCount(index, machine)
      unlisted += machine.unlistedCount(of: NodeID(index))
    }
    known -= unlisted
    if unlisted > 0, stoppedAt == nil, machine.scheduler.exitCode == .success {
      report(.nothingLost, "the launch succeeded although \(unlisted) files were not listed")
    }
    if sum != known { report(.nothingLost, "\(sum) of \(known) items are accounted for: \(items)") }
    if items.waiting > 0, options.limit == nil, stoppedAt == nil, machine.scheduler.exitCode == .success {
      report(.nothingLost, "the launch succeeded although \(items.waiting) items wait")
    }
    if machine.scheduler.itemsOpen != 0 { report(.nothingLost, "items are open after the end") }
  }

  /// The number of files of an upload that the launch listed or received.
  private func tableCount(_ node: Int, _ machine: VirtualMachine) -> Int {
    guard plan.nodes[node].kind.hasItems else { return 0 }
    var paths = Set<[UInt8]>()
    let listing = machine.listing(of: NodeID(node))
    for index in 0..<listing.count { paths.insert(Array(listing.path(index))) }
    _ = machine.scheduler.withItems(of: NodeID(node)) { table in
      for item in 0..<table.count { paths.insert(Array(table.files.path(item))) }
    }
    return paths.count
  }

  /// Reports the nodes that remain open although the world injects no more faults.
  mutating func starve(_ machine: VirtualMachine) {
    let open = machine.scheduler.nodeRecords.filter { $0.state == .waiting }
    let reasons = open.map { "\($0.name): \($0.reason?.message ?? "?")" }
    report(.starvation, "still open: \(reasons.joined(separator: "; "))")
  }

  /// Checks a closed round: each file is in the journal and closed, and is on the server if it is done.
  mutating func closed(_ machine: VirtualMachine) {
    for (index, node) in plan.nodes.enumerated() where node.kind.hasItems {
      let rows = machine.journal.items[index]
      var found: [FileKey: ItemState] = [:]
      for row in 0..<rows.count {
        let key = FileKey(node: index, path: Array(rows.files.path(row)))
        if found.updateValue(rows.states[row], forKey: key) != nil {
          report(.nothingTwice, "\(node.name)/\(text(key)) has two rows")
        }
      }
      let wasSkipped = machine.scheduler.nodeRecords[index].state == .skipped
      let listing = machine.listing(of: NodeID(index))
      for file in 0..<listing.count where !wasSkipped {
        let key = FileKey(node: index, path: Array(listing.path(file)))
        guard let state = found[key] else {
          report(.nothingLost, "\(node.name)/\(text(key)) is not in the journal")
          continue
        }
        if !state.isClosed { report(.nothingLost, "\(node.name)/\(text(key)) is \(state)") }
        if state == .done, !hasEffect.contains(key), !isUncounted(node) {
          report(.nothingLost, "\(node.name)/\(text(key)) is done, but is not on the server")
        }
      }
    }
  }

  /// Whether the server records no effect for the node's files: a repeatable transfer to an upload ID without a commit
  /// leaves no permanent trace.
  private func isUncounted(_ node: Node) -> Bool {
    guard case .upload(let work) = node.work else { return true }
    return work.allocate != nil && work.commit == nil && work.transfer.repeatability != .once
  }
}
