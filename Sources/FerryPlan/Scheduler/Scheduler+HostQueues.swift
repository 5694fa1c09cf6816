import FerryManifest

/// Host queues: select the next step to send on each host's connections.
extension Scheduler {
  mutating func hostQueue(_ session: SessionID, _ origin: Origin?) -> Int {
    let key = HostQueue.Key(session: session, origin: origin)
    if let index = hostQueueIndices[key] { return index }
    hostQueueIndices[key] = hostQueues.count
    hostQueues.append(HostQueue(key: key, limit: plan.sessions[session.index].maxConnectionsPerHost))
    applyHold(to: hostQueues.count - 1)
    return hostQueues.count - 1
  }

  /// Moves the later steps of an item or node to the queues of the origins that a response names.
  mutating func route(_ ref: ItemRef, _ origins: [Step.Kind: Origin]) {
    for (kind, origin) in origins {
      let later = step(ref.node, kind)
      let hostQueue = hostQueue(later.session, origin)
      if plan.nodes[ref.node.index].waitsForEntry(before: later) { hostQueues[hostQueue].needsEntries = true }
      self[attempts: ref]?.hostQueues[kind] = hostQueue
    }
  }

  func step(_ node: NodeID, _ kind: Step.Kind) -> Step { steps[node, kind].step }

  /// The step as it applies to an item.
  func step(_ ref: ItemRef, _ kind: Step.Kind) -> Step {
    var step = step(ref.node, kind)
    let repeatability = repeatability(ref, kind)
    if repeatability != step.repeatability { step.repeatability = repeatability }
    return step
  }

  /// Whether a step can be repeated for an item. Once the server has assigned an upload resource, a transfer can be
  /// repeated: the resource states which bytes the server has.
  func repeatability(_ ref: ItemRef, _ kind: Step.Kind) -> Step.Repeatability {
    let declared = steps[ref.node, kind].step.repeatability
    guard kind == .transfer, declared == .once, machine(of: ref)?.assignsResource == true,
      progress(of: ref)?.uploadID != nil
    else { return declared }
    return .repeatable
  }

  mutating func enqueue(_ ref: ItemRef, _ kind: Step.Kind) { enqueue(ready(ref, kind)) }

  mutating func ready(_ ref: ItemRef, _ kind: Step.Kind) -> Ready {
    readyCount += 1
    let priority: UInt16 =
      switch kind.traits.turn {
      case .first: 0
      case .last: .max
      case .byPriority: uploadIndex[ref.node.index].map { uploads[$0].priority } ?? 32_768
      }
    return Ready(ref: ref, step: kind, priority: priority, sequence: Ready.firstSequence + readyCount)
  }

  /// Returns a step that precedes other steps of its kind: the next part of a file, or a step that was postponed because
  /// its host failed. Among these steps, the one with the most retries goes first. One request at a time then tests
  /// whether the host has recovered, and the requests do not use up their retries together. Otherwise, the first item goes
  /// first, so that the parts of several files do not alternate.
  mutating func readyFirst(_ ref: ItemRef, _ kind: Step.Kind, retries: Int) -> Ready {
    var ready = ready(ref, kind)
    ready.sequence = Ready.sequence(retries: retries, item: ref.item)
    return ready
  }

  mutating func enqueue(_ ready: Ready) {
    let hostQueue = self.hostQueue(for: ready)
    if let failure = hostQueues[hostQueue].givenUp {
      leave(ready.ref, failure)
    } else {
      wait(ready, on: hostQueue)
    }
  }

  /// Inserts a step into the queue.
  private mutating func wait(_ ready: Ready, on hostQueue: Int) {
    if isTooLate(ready, on: hostQueue) {
      waitForDeadline(ready)
    } else {
      insert(ready, on: hostQueue)
    }
  }

  mutating func hostQueue(for ready: Ready) -> Int {
    if let hostQueue = capturedHostQueue(for: ready) { return hostQueue }
    if let known = steps[hostQueueOf: ready.ref.node, ready.step] { return known }
    let step = step(ready.ref.node, ready.step)
    let hostQueue = hostQueue(step.session, step.origin)
    steps[hostQueueOf: ready.ref.node, ready.step] = hostQueue
    return hostQueue
  }

  /// The queue of a step whose origin only a capture determined; `nil` for other steps.
  private func capturedHostQueue(for ready: Ready) -> Int? {
    // Called for each step. Access in place, as by `self[attempts:]`, takes longer than this search.
    if let item = ready.ref.item, let upload = uploadIndex[ready.ref.node.index] {
      return uploads[upload].active.hostQueue(of: item, ready.step)
    }
    return self[attempts: ready.ref]?.hostQueues[ready.step]
  }

  /// Moves steps whose intents are on disk to the queue of steps that may be sent.
  mutating func moveIntents() {
    for hostQueue in hostQueues.indices where !hostQueues[hostQueue].intending.isEmpty {
      let written = hostQueues[hostQueue].intending.filter { $0.sequence <= synced }
      hostQueues[hostQueue].intending.removeAll { $0.sequence <= synced }
      for (_, ready) in written {
        if isTooLate(ready, on: hostQueue) {
          waitForDeadline(ready)
        } else {
          insertIntended(ready, on: hostQueue)
        }
      }
    }
  }

  mutating func fillHostQueues() {
    // A step that starts in one queue can create work for another, so this repeats until nothing changes.
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      for hostQueue in hostQueues.indices { if fill(hostQueue) { hasMoved = true } }
    }
  }

  private mutating func fill(_ hostQueue: Int) -> Bool {
    var hasMoved = false
    while hostQueues[hostQueue].givenUp == nil, hostQueues[hostQueue].hold == nil {
      let hasSlot = freeSlots(on: hostQueue) > 0 && hasRoomInWindow(hostQueue)
      // Intents are written before a connection is free, unless the host has failed.
      let isFailing = hostQueues[hostQueue].failures > 0
      let hasIntentRoom =
        isFailing
        ? hasSlot && hostQueues[hostQueue].intending.isEmpty
        : (hasSlot || hostQueues[hostQueue].needsEntries) && hostQueues[hostQueue].intentRoom > 0
      if hasSlot, startFurther(on: hostQueue) {
        // Like the next part of a file, a further part precedes other transfers.
      } else if hasSlot, let intended = hostQueues[hostQueue].intended.min,
        !isOvertaken(intended, on: hostQueue)
      {
        hostQueues[hostQueue].intended.removeMin()
        start(intended, on: hostQueue)
      } else if let commit = hostQueues[hostQueue].ready.min, isCommitToIntend(commit),
        isFailing ? hasIntentRoom : hostQueues[hostQueue].commitRoom > 0
      {
        hostQueues[hostQueue].ready.removeMin()
        pass(commit, on: hostQueue)
      } else if hasSlot || hasIntentRoom, let ready = takeNext(on: hostQueue) {
        if mayPass(ready, on: hostQueue, hasSlot: hasSlot, hasIntentRoom: hasIntentRoom) {
          pass(ready, on: hostQueue)
        } else {
          wait(ready, on: hostQueue)
          // The connection does not wait for the disk if another step can be sent.
          guard hasSlot, let intended = hostQueues[hostQueue].intended.popMin() else { break }
          start(intended, on: hostQueue)
        }
      } else {
        break
      }
      hasMoved = true
    }
    return hasMoved
  }

  /// The number of further requests that may start on a queue that is neither given up nor held. If the host has failed,
  /// a single request tests whether it has recovered.
  private func freeSlots(on hostQueue: Int) -> Int {
    if let resumeAt = hostQueues[hostQueue].resumeAt, now < resumeAt { return 0 }
    let limit = hostQueues[hostQueue].failures > 0 ? 1 : hostQueues[hostQueue].limit
    return limit - hostQueues[hostQueue].inFlight
  }

  /// Whether the step may leave this queue: the queue has room for it, or the step will not be sent from this queue.
  private mutating func mayPass(
    _ ready: Ready, on hostQueue: Int, hasSlot: Bool, hasIntentRoom: Bool
  ) -> Bool {
    // The next step of an item that an earlier launch has begun may belong to another queue, and a step with an
    // inherited intent is not sent.
    if intent(of: ready.ref) == .inherited || self.hostQueue(for: ready) != hostQueue { return true }
    if isCommitToIntend(ready), hostQueues[hostQueue].failures == 0 {
      return hostQueues[hostQueue].commitRoom > 0
    }
    return needsEntry(ready) ? hasIntentRoom : hasSlot
  }

  /// Whether an entry of the item must be on disk before the step is sent.
  func needsEntry(_ ready: Ready) -> Bool { needsIntent(ready) || needsUploadID(ready) }

  /// Whether an intent must be on disk before the step is sent. This applies to every unrepeatable step and
  /// every commit, because the next launch must take into account that the step may have been executed.
  func needsIntent(_ ready: Ready) -> Bool {
    guard intent(of: ready.ref) != .recorded else { return false }
    return ready.step == .commit || repeatability(ready.ref, ready.step) == .once || mayCompleteOnce(ready)
  }

  /// Whether the request may complete an upload that must not be created again. The upload resource shows which bytes
  /// the server has, but only as long as it exists.
  private func mayCompleteOnce(_ ready: Ready) -> Bool {
    ready.step == .transfer && steps[ready.ref.node, .transfer].step.repeatability == .once
      && operation(of: ready).range != nil
  }

  /// Whether the upload ID must be on disk before the step is sent. Without a commit, the transfer delivers the file, and
  /// the next launch would deliver it again under another ID if it did not know this one.
  func needsUploadID(_ ready: Ready) -> Bool {
    guard ready.step == .transfer, let upload = uploadIndex[ready.ref.node.index],
      uploads[upload].rules.deliversAgainUnderNewID
    else { return false }
    return progress(of: ready.ref)?.uploadID?.isRecorded == false
  }

  /// Whether the step is a repeatable commit that still needs an intent. Such a commit does not use a
  /// connection while its intent is written.
  private func isCommitToIntend(_ ready: Ready) -> Bool {
    ready.step == .commit && steps[ready.ref.node, .commit].step.repeatability != .once && needsIntent(ready)
  }
}
