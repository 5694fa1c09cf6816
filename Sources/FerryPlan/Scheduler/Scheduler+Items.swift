/// The items' states, as the other parts of the scheduler use them.
extension Scheduler {
  /// Changes an item's state. A node with a single request and a release have no such state.
  mutating func change(_ ref: ItemRef, _ transition: ItemTransition) {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return }
    entries += uploads[upload].apply(transition, to: item, at: now)
  }

  /// The known state of an item that has begun; `nil` for any other reference.
  func progress(of ref: ItemRef) -> ItemProgress? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return nil }
    return uploads[upload].active[item]?.progress
  }

  /// The step with which an item starts over: `allocate` if the upload has this step; otherwise, the
  /// transfer.
  func firstStep(of ref: ItemRef) -> Step.Kind {
    guard let upload = uploadIndex[ref.node.index] else { return .transfer }
    return uploads[upload].rules.hasAllocate ? .allocate : uploads[upload].rules.transferStep
  }

  /// Whether the node is a download batch.
  func isDownload(_ node: NodeID) -> Bool { plan.nodes[node.index].kind == .download }

  /// Records the size of the file in which an item was stored. The journal keeps the size that the list states, because
  /// later lists are compared with it.
  mutating func keep(size: Int64, of ref: ItemRef) {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return }
    uploads[upload].items.files.sizes[item] = size
  }

  /// The intent of an item or of a node with a single request.
  func intent(of ref: ItemRef) -> ItemProgress.Intent {
    if ref.item != nil { return progress(of: ref)?.intent ?? .none }
    return ref.orphan == nil ? nodes[ref.node.index].intent : .none
  }

  mutating func recordIntent(_ ref: ItemRef, _ step: Step.Kind) {
    guard ref.item == nil else { return change(ref, .recordIntent(step.itemStep)) }
    entries.append(.intentRecorded(ref, step.itemStep))
    nodes[ref.node.index].intent = .recorded
  }

  /// Withdraws the intent, if there is one, of a request that was not sent or that the server refused. The
  /// intent is kept if an earlier attempt may have been executed.
  mutating func withdrawIntent(_ ref: ItemRef) {
    guard intent(of: ref) == .recorded, progress(of: ref)?.doubt != .unknown else { return }
    guard ref.item == nil else { return change(ref, .withdrawIntent) }
    entries.append(.intentWithdrawn(ref))
    nodes[ref.node.index].intent = .none
  }

  mutating func useIntent(_ ref: ItemRef) {
    guard ref.item == nil else { return change(ref, .useIntent) }
    if ref.orphan == nil { nodes[ref.node.index].intent = .none }
  }

  /// The attempts at an item, a node with a single request, or a release, from its beginning to its end.
  subscript(attempts ref: ItemRef) -> AttemptHistory? {
    get {
      if let orphan = ref.orphan {
        return uploadIndex[ref.node.index].flatMap { uploads[$0].releases.active[orphan] }
      }
      guard let item = ref.item else { return nodes[ref.node.index].attempts }
      return uploadIndex[ref.node.index].flatMap { uploads[$0].active[item]?.attempts }
    }
    set {
      if let orphan = ref.orphan {
        if let upload = uploadIndex[ref.node.index] { uploads[upload].releases.active[orphan] = newValue }
      } else if let item = ref.item {
        if let upload = uploadIndex[ref.node.index], let newValue {
          uploads[upload].active[item]?.attempts = newValue
        }
      } else {
        nodes[ref.node.index].attempts = newValue
      }
    }
  }
}
