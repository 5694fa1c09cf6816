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
    return uploads[upload].active.progress(of: item)
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
    guard intent(of: ref) == .recorded else { return }
    if let progress = progress(of: ref) {
      guard progress.doubt != .unknown, !progress.mayBeComplete else { return }
      return change(ref, .withdrawIntent)
    }
    entries.append(.intentWithdrawn(ref))
    nodes[ref.node.index].intent = .none
  }

  mutating func useIntent(_ ref: ItemRef) {
    guard ref.item == nil else {
      // Without an intent, the transition changes nothing.
      if progress(of: ref)?.intent != ItemProgress.Intent.none { change(ref, .useIntent) }
      return
    }
    if ref.orphan == nil { nodes[ref.node.index].intent = .none }
  }

  /// The attempts at an item, a node with a single request, or a release, from its beginning to its end.
  subscript(attempts ref: ItemRef) -> AttemptHistory? {
    // Accessed in place: a getter and a setter would copy the history for each change.
    _read {
      if ref.item == nil, ref.orphan == nil {
        yield nodes[ref.node.index].attempts
      } else if let upload = uploadIndex[ref.node.index] {
        if let item = ref.item {
          yield uploads[upload].active[attempts: item]
        } else if let orphan = ref.orphan {
          yield uploads[upload].releases.active[orphan]
        } else {
          yield nil
        }
      } else {
        yield nil
      }
    }
    _modify {
      if ref.item == nil, ref.orphan == nil {
        yield &nodes[ref.node.index].attempts
      } else if let upload = uploadIndex[ref.node.index], let item = ref.item {
        yield &uploads[upload].active[attempts: item]
      } else if let upload = uploadIndex[ref.node.index], let orphan = ref.orphan {
        yield &uploads[upload].releases.active[orphan]
      } else {
        var none: AttemptHistory?
        yield &none
      }
    }
  }
}
