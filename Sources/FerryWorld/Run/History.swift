import FerryPlan

/// A history as people read it: a line for each thing that matters.
struct History {
  private(set) var lines: [String] = []
  private let plan: Plan
  private let begin: Instant
  private var launches = 0
  /// Where the last launch without a fault begins, and how many there were.
  private var calm: (line: Int, count: Int)?

  init(_ plan: Plan, at begin: Instant) {
    self.plan = plan
    self.begin = begin
  }

  mutating func add(_ violation: Violation, at now: Instant) {
    let at = (begin.duration(to: now).seconds * 1000).rounded() / 1000
    lines.append("=> \(at) s  \(violation.rule.rawValue): \(violation.message)")
  }

  /// Of launches without a fault only the last one is told.
  mutating func beginCalm() {
    if let calm { lines.removeSubrange(calm.line...) }
    calm = (calm?.line ?? lines.count, (calm?.count ?? 0) + 1)
    if let calm, calm.count > 1 { lines.append("… \(calm.count - 1) launches without a fault") }
  }

  mutating func see(_ machine: VirtualMachine) {
    for sight in machine.sights {
      guard let text = text(of: sight, machine) else { continue }
      let seconds = begin.duration(to: machine.now).seconds
      lines.append("\((seconds * 1000).rounded() / 1000) s  \(text)")
    }
  }

  private mutating func text(of sight: Sight, _ machine: VirtualMachine) -> String? {
    switch sight {
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
      return "sends \(call.step.rawValue) \(name(call.attempt.place, machine)) (\(call.attempt.id))"
    case .othersMoved(let network, let bytes): return "others move \(bytes) bytes on \(network.rawValue)"
    case .died: return "killed"
    case .moved, .leased: return nil
    }
  }

  private func text(of event: Event, _ machine: VirtualMachine) -> String? {
    switch event {
    case .launched, .timer, .synced, .moved, .leased: return nil
    case .finished(let results):
      return results.map { result in
        switch result.answer {
        case .response(let response): "\(result.id) ends with \(response.status)"
        case .failure(let failure): "\(result.id) ends with \(failure.code.rawValue)"
        }
      }.joined(separator: ", ")
    case .stop(let cause): return "stop: \(cause.rawValue)"
    case .conditions(let conditions): return text(of: conditions)
    case .hangUp: return "hang-up"
    case .cancelled(_, _, let finishing): return "ferry cancel\(finishing ? " --finish" : "")"
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
        case .handedOver(let node, let items, _):
          "hands over \(plan.nodes[node.index].name) \(items)"
        case .closed(let place, let state, _, _): "\(name(place, machine)) is \(state)"
        case .resumed(_, let state): "resume: period \(state.period)"
        case .intent(let place, _): "intends \(name(place, machine))"
        case .released(let place): "releases the ID of \(name(place, machine))"
        case .orphaned(let place, let number, let orphaning, _):
          "drops the ID of \(name(place, machine)) as orphan \(number): \(orphaning.reason)"
        case .settled(let place): "is rid of orphan \(place.orphan ?? -1) of \(name(place, machine))"
        case .notReleased(let place, _, _): "keeps orphan \(place.orphan ?? -1) of \(name(place, machine))"
        case .withdrawn, .allocated, .transferred, .batchThrough: nil
        }
      }
      return told.isEmpty ? nil : told.joined(separator: ", ")
    case .start, .sync, .releaseLeases: return nil
    }
  }

  private func text(of conditions: DeviceConditions) -> String {
    let expensive = conditions.isExpensive && conditions.network != .cellular ? " expensive" : ""
    return "network \(conditions.network.rawValue)\(expensive), power \(conditions.power.rawValue)"
  }

  private func name(_ place: Place, _ machine: VirtualMachine) -> String {
    let node = plan.nodes[place.node.index].name
    guard let path = machine.scheduler.path(of: place) else { return node }
    return "\(node)/\(String(decoding: path, as: UTF8.self))"
  }
}
