import FerryManifest

/// The activities of the nodes, for the timeline of a report and the progress display.
extension Scheduler {
  /// The number of requests in progress.
  package var inFlight: Int { flights.count }

  /// The activity of each node; `nil` for a node that is not open, or has ended.
  package var activities: [NodeActivity?] {
    var activities: [NodeActivity?] = Array(repeating: nil, count: nodes.count)
    for flight in flights.values {
      let node = flight.attempt.ref.node.index
      let activity = NodeActivity(flight.attempt.step)
      if activities[node].map({ activity.rank > $0.rank }) ?? true { activities[node] = activity }
    }
    for index in nodes.indices where activities[index] == nil { activities[index] = waiting(index) }
    return activities
  }

  /// What a node without a request in progress is waiting for.
  private func waiting(_ index: Int) -> NodeActivity? {
    guard case .open = nodes[index].phase, tokens[index] == nil else { return nil }
    let id = NodeID(index)
    if tokens.values.contains(where: { $0.waiters.contains { $0.ref.node == id } }) { return .token }
    guard let upload = uploadIndex[index].map({ uploads[$0] }) else {
      return nodes[index].attempts?.failures.isEmpty == false ? .retrying : .queued
    }
    guard upload.tally.open > 0 else { return nil }
    let session = sessions[plan.nodes[index].session.index]
    if upload.delayed != nil || session.handlesAt.map({ $0 > now }) == true { return .delay }
    if upload.isHeld || upload.holdsDiscretionary { return .conditions }
    if !upload.skipped.isEmpty { return .budget }
    if !upload.active.isEmpty, upload.tally.inProgress == 0 { return .retrying }
    return .queued
  }
}

extension NodeActivity {
  init(_ step: Step.Kind) {
    switch step {
    case .allocate: self = .allocating
    case .transfer: self = .sending
    case .commit, .probe: self = .committing
    case .token, .fetch, .download, .request, .abandon: self = .requesting
    }
  }

  /// If a node has several requests in progress, the one of the highest rank is shown.
  fileprivate var rank: Int {
    switch self {
    case .sending: 4
    case .committing: 3
    case .allocating: 2
    case .requesting: 1
    case .retrying, .token, .budget, .delay, .conditions, .queued: 0
    }
  }
}
