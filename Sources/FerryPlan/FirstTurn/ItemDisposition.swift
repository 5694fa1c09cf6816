/// The state of one item, fetch or request after a launch's first turn.
package enum ItemDisposition: Sendable, Equatable {
  /// The launch begins the item immediately, or fetches the item's token.
  case begins
  /// The item ends before anything is sent.
  case ends(ItemState, RecordedFailure?)
  case waits(RecordedFailure)
  /// The item's node has ended in this round, or is not selected.
  case closed
}

extension InitialDecision {
  package func disposition(of ref: ItemRef) -> ItemDisposition {
    if let note = scheduler.metrics.notes.last(where: { $0.ref == ref && $0.state.isClosed }) {
      return .ends(note.state, note.failure)
    }
    if starts.contains(where: { $0.ref == ref }) { return .begins }
    return scheduler.disposition(of: ref)
  }
}

extension Scheduler {
  fileprivate func disposition(of ref: ItemRef) -> ItemDisposition {
    let index = ref.node.index
    switch nodes[index].phase {
    case .notSelected, .finished, .settling: return .closed
    case .closed where nodes[index].endedBefore: return .closed
    case .closed: return nodes[index].failure.map { .waits($0) } ?? .closed
    case .waiting: return .waits(needsReason(index))
    case .open, .left: break
    }
    if let item = ref.item, let upload = uploadIndex[index] {
      if let hold = hold(on: ref) { return .waits(hold) }
      if let gate = gate(of: ref),
        let skipped = uploads[upload].skipped.unordered.first(where: { $0.item == item })
      {
        return .waits(gates[gate].reason(skipped.size))
      }
      if let delayed = uploads[upload].delayed, delayed.items.items.contains(item) {
        return .waits(delay(until: delayed.until, ref.node))
      }
    }
    if let creation = creations.unordered.first(where: { $0.ready.ref == ref }) {
      return .waits(delay(until: creation.at, ref.node))
    }
    if let reason = budgetReason(where: { $0 == ref }) { return .waits(reason) }
    if tokens.values.contains(where: { $0.waiters.contains { $0.ref == ref } }) { return .begins }
    let reason = reasonOfOpen(index)
    // For an item, the node's reason `power` does not count: it may apply only to other items, which are
    // discretionary.
    if let reason, reason.code != .waiting, reason.code != .itemsRemaining,
      reason.code != .power || ref.item == nil
    {
      return .waits(reason)
    }
    return .waits(turn(of: ref.node))
  }

  private func needsReason(_ index: Int) -> RecordedFailure {
    let names = plan.nodes[index].needs.compactMap { need -> String? in
      if case .closed = nodes[need.index].phase { nil } else { "'\(plan.nodes[need.index].name)'" }
    }
    return .init(code: .needs, message: "waiting for \(names.joined(separator: ", "))")
  }

  private func turn(of node: NodeID) -> RecordedFailure {
    let session = plan.sessions[session(of: node).index]
    return .init(
      code: .turn,
      message:
        "waiting for its turn: session '\(session.name)' allows "
        + "\(Count.text(session.maxConnectionsPerHost, "connection")) per host")
  }
}
