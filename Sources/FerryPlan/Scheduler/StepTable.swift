import FerryManifest

/// The steps of a plan's nodes, by node and kind, and their host queues.
///
/// A step is large. A lookup returns a reference, so that a check of one property does not copy the step.
struct StepTable: Sendable {
  final class Entry: Sendable {
    let step: Step

    init(_ step: Step) { self.step = step }
  }

  /// The number of entries of a node.
  private static let columns = 5

  private var entries: [Entry] = []
  /// The host queue of each entry; `nil` until it is used.
  private var hostQueues: [Int?]

  init(_ plan: Plan) {
    entries.reserveCapacity(plan.nodes.count * Self.columns)
    for node in plan.nodes {
      switch node.work {
      case .token(let work): Self.append([Entry(work.step)], to: &entries)
      case .fetch(let work): Self.append([Entry(work.step)], to: &entries)
      case .request(let work): Self.append([Entry(work.step)], to: &entries)
      case .upload(let work):
        let others = [work.allocate, work.commit, work.probe, work.abandon]
        Self.append([Entry(work.transfer)] + others.map { $0.map(Entry.init) }, to: &entries)
      }
    }
    hostQueues = Array(repeating: nil, count: entries.count)
  }

  /// A step that a node does not have is represented by its first one.
  private static func append(_ own: [Entry?], to entries: inout [Entry]) {
    guard let first = own[0] else { return }
    for column in 0..<columns { entries.append(column < own.count ? own[column] ?? first : first) }
  }

  /// The step of this kind. Every node has a transfer or a single step, which also represents the kinds that the node
  /// does not have.
  subscript(node: NodeID, kind: Step.Kind) -> Entry { entries[Self.index(node, kind)] }

  /// The host queue of a step whose origin the plan determines; `nil` until it is set.
  subscript(hostQueueOf node: NodeID, kind: Step.Kind) -> Int? {
    get { hostQueues[Self.index(node, kind)] }
    set { hostQueues[Self.index(node, kind)] = newValue }
  }

  private static func index(_ node: NodeID, _ kind: Step.Kind) -> Int {
    let column =
      switch kind {
      case .transfer, .download, .token, .fetch, .request: 0
      case .allocate: 1
      case .commit: 2
      case .probe: 3
      case .abandon: 4
      }
    return node.index * columns + column
  }
}
