import FerryPlan
import FerrySimulation

/// A readable history, with one line for each relevant observation.
struct History {
  private(set) var lines: [String] = []
  private let plan: Plan
  private let begin: Instant
  private var launches = 0
  /// The line at which the last fault-free launch begins, and the number of such launches.
  private var calm: (line: Int, count: Int)?

  init(_ plan: Plan, at begin: Instant) {
    self.plan = plan
    self.begin = begin
  }

  mutating func add(_ violation: Violation, at now: Instant) {
    let at = (begin.duration(to: now).seconds * 1000).rounded() / 1000
    lines.append("=> \(at) s  \(violation.rule.rawValue): \(violation.message)")
  }

  /// Begins a fault-free launch. Only the last one is kept.
  mutating func beginCalm() {
    if let calm { lines.removeSubrange(calm.line...) }
    calm = (calm?.line ?? lines.count, (calm?.count ?? 0) + 1)
    if let calm, calm.count > 1 { lines.append("… \(calm.count - 1) launches without a fault") }
  }

  mutating func see(_ machine: VirtualMachine) {
    for traceEvent in machine.trace {
      guard let text = text(of: traceEvent, machine) else { continue }
      let seconds = begin.duration(to: machine.now).seconds
      lines.append("\((seconds * 1000).rounded() / 1000) s  \(text)")
    }
  }

  private mutating func text(of traceEvent: TraceEvent, _ machine: VirtualMachine) -> String? {
    switch traceEvent {
    case .launched(let options):
      launches += 1
      let conditions = text(of: options.conditions)
      let limit = options.limit.map { ", limit \($0)" } ?? ""
      let patience = options.patience > .zero ? ", patience \(options.patience)" : ""
      return
        "launch \(launches), \(options.launch.rawValue), round \(machine.round), \(conditions)\(limit)\(patience)"
    case .event(let event): return text(of: event, machine)
    case .action(let action): return text(of: action, machine)
    case .sent(let call, _):
      let part = call.attempt.operation == .whole ? "" : ", \(call.attempt.operation)"
      return "sends \(call.step.rawValue) \(name(call.attempt.ref, machine)) (\(call.attempt.id))\(part)"
    case .othersMoved(let network, let bytes): return "others move \(bytes) bytes on \(network.rawValue)"
    case .contradiction(let message): return "contradiction: \(message)"
    case .died: return "killed"
    case .moved, .leased: return nil
    }
  }

  private func text(of event: Event, _ machine: VirtualMachine) -> String? {
    switch event {
    case .launched, .timer, .synced, .moved, .leased, .uploadIDsInUse, .listed: return nil
    case .finished(let results):
      return results.map { result in
        switch result.answer {
        case .response(let response): "\(result.id) ends with \(response.status)"
        case .failure(let failure): "\(result.id) ends with \(failure.code.rawValue)"
        }
      }.joined(separator: ", ")
    case .resourceAssigned(let id, _): return "\(id) is assigned an upload resource"
    case .stop(let cause): return "stop: \(cause.rawValue)"
    case .conditions(let conditions): return text(of: conditions)
    case .hangUp: return "hang-up"
    case .cancelled(_, _, let finishing, _): return "ferry cancel\(finishing ? " --finish" : "")"
    case .drained: return "ferry cancel --drain"
    case .submitted(let node, let items):
      return "ferry submit: \(items.count) files for \(plan.nodes[node.index].name)"
    }
  }

  private func text(of action: Action, _ machine: VirtualMachine) -> String? {
    switch action {
    case .cancel(let id): return "cancels \(id)"
    case .lease(let request): return "asks for a lease of \(request.minimum) bytes"
    case .end: return "ends"
    case .record(let entries):
      let told = entries.compactMap { entry -> String? in
        switch entry {
        case .itemsQueued(let node, let items, _):
          "queues \(plan.nodes[node.index].name) \(items)"
        case .itemClosed(let ref, let state, _, _): "\(name(ref, machine)) is \(state)"
        case .sessionResumed(_, let state): "resume: period \(state.period)"
        case .intentRecorded(let ref, _): "intends \(name(ref, machine))"
        case .uploadIDDiscarded(let ref): "releases the ID of \(name(ref, machine))"
        case .uploadIDOrphaned(let ref, let number, let orphaning, _):
          "drops the ID of \(name(ref, machine)) as orphan \(number): \(orphaning.reason)"
        case .orphanResolved(let ref): "resolves orphan \(ref.orphan ?? -1) of \(name(ref, machine))"
        case .orphanReleaseFailed(let ref, _, _): "keeps orphan \(ref.orphan ?? -1) of \(name(ref, machine))"
        case .fetchFailed(let node, _, _): "\(plan.nodes[node.index].name) failed and is still open"
        case .intentWithdrawn, .uploadIDAllocated, .transferAdvanced, .uploadIDUpdated, .fileTransferred,
          .sessionInForeground,
          .batchCompleted, .nodeFailing:
          nil
        }
      }
      return told.isEmpty ? nil : told.joined(separator: ", ")
    case .start, .sync, .keepLeases, .windowExpired, .list: return nil
    }
  }

  private func text(of conditions: DeviceConditions) -> String {
    let expensive = conditions.isExpensive && conditions.network != .cellular ? " expensive" : ""
    return "network \(conditions.network.rawValue)\(expensive), power \(conditions.power.rawValue)"
  }

  private func name(_ ref: ItemRef, _ machine: VirtualMachine) -> String {
    let node = plan.nodes[ref.node.index].name
    guard let path = machine.scheduler.path(of: ref) else { return node }
    return "\(node)/\(String(decoding: path, as: UTF8.self))"
  }
}
