import FerryManifest

/// Admission: selects the next item to begin.
extension Scheduler {
  /// Takes the next step from this queue: the waiting step with the highest priority, or the first step of a
  /// new item.
  mutating func takeNext(on hostQueue: Int) -> Ready? {
    while let source = eligibleSource(hostQueue) {
      if let top = hostQueues[hostQueue].ready.min, top.step != .abandon,
        top.priority <= uploads[source].priority
      {
        break
      }
      switch admitNext(of: source) {
      case .admitted:
        // An item that an earlier launch has sent may wait for its batch instead.
        if let ready = beginNextItem(of: source) { return ready }
      case .asks, .skipped: continue
      }
    }
    return hostQueues[hostQueue].ready.popMin()
  }

  func eligibleSource(_ hostQueue: Int) -> Int? {
    if let limit = options.limit, begunCount >= limit { return nil }
    // Accessed by index, not by value: an upload's state is large, and this runs for each item.
    for index in hostQueues[hostQueue].sources where mayBegin(index) { return index }
    return nil
  }

  /// The gate of the next item to begin.
  private func gateOfNext(_ upload: Int) -> Int? {
    uploads[upload].pending.first.flatMap { gate(of: ItemRef(uploads[upload].node, $0)) }
  }

  /// The maximum number of items in progress of a batch with items of several servers. Items of a server that responds slowly
  /// wait in the queue of that server, and those of the other servers can begin meanwhile. Each item being downloaded takes
  /// two descriptors.
  private static let windowOfSeveralServers = 100

  private func mayBegin(_ upload: Int) -> Bool {
    let gate = gateOfNext(upload)
    // With a budget, each item in progress reserves bytes.
    let window =
      gate == nil && uploads[upload].items.origins.count > 1
      ? max(uploads[upload].window, Self.windowOfSeveralServers) : uploads[upload].window
    // Downloads that wait for the next window because they are too large for this one, and transfers that have only asked
    // the server for their state, do not delay the others.
    let waiting = (gate.map { gates[$0].putAside.count } ?? 0) + queryCount(of: upload)
    guard !uploads[upload].isHeld, let next = uploads[upload].pending.first,
      uploads[upload].heldUntil <= synced || next < uploads[upload].heldFrom,
      uploads[upload].tally.inProgress < window + waiting,
      uploads[upload].tally.ahead < uploads[upload].aheadLimit,
      gate.map({ gates[$0].asked == nil }) ?? true,
      case .open = nodes[uploads[upload].node.index].phase
    else { return false }
    for token in uploads[upload].tokens {
      if case .failed = tokens[token]?.phase { return false }
    }
    return true
  }

  /// Begins the next item of an upload, at its first step or where an earlier launch stopped. Returns `nil`
  /// if the item is waiting for the end of its batch.
  mutating func beginNextItem(of upload: Int) -> Ready? {
    guard let item = uploads[upload].pending.removeFirst() else { return nil }
    let ref = ItemRef(uploads[upload].node, item)
    change(ref, .begin)
    begunCount += 1
    if uploads[upload].rules.transferStartsOver, case .allocated(.some) = progress(of: ref)?.stage {
      // An earlier launch was interrupted, perhaps while it sent the file. Whether it had begun to send the
      // file is not recorded, because the ID of a possibly incomplete transfer is simply not used again.
      discardUploadID(ref, .startedOver)
    }
    if let origin = uploads[upload].items.origin(of: item) {
      let step = uploads[upload].rules.transferStep
      let queue = hostQueue(self.step(ref.node, step).session, origin)
      self[attempts: ref]?.hostQueues[step] = queue
    }
    guard let progress = progress(of: ref) else { return nil }
    let ready = ready(ref, uploads[upload].rules.firstStep(of: progress))
    guard progress.isTransferred, ready.step != .transfer, hasResumes(session(of: ref.node)),
      progress.intent == .none
    else { return ready }
    keepUntilBatchCompletes(ready, upload)
    return nil
  }

  /// The result of asking the budget to admit the next item of an upload. If the budget cannot admit the item
  /// in this window, the item is skipped.
  private enum ItemAdmission { case admitted, asks, skipped }

  private mutating func admitNext(of upload: Int) -> ItemAdmission {
    let node = uploads[upload].node
    guard let gate = gateOfNext(upload), let item = uploads[upload].pending.first,
      uploads[upload].items.begun[item]?.state != .transferred
    else { return .admitted }
    let size = reservedSize(of: ItemRef(node, item), gate)
    switch gates[gate].admit(ItemRef(node, item), size: size) {
    case .admitted: return .admitted
    case .asks(let request):
      ask(request)
      return .asks
    case .refused where continuesWithQuery(upload, item): return .admitted
    case .refused:
      skip(upload, item, size ?? 1)
      return .skipped
    }
  }

  /// Whether the first request of an item that an earlier launch began asks the server which bytes it has. It does not wait
  /// for another window.
  private func continuesWithQuery(_ upload: Int, _ item: Int) -> Bool {
    let ref = ItemRef(uploads[upload].node, item)
    guard let begun = uploads[upload].items.begun[item], begun.expires.map({ now < $0 }) ?? true,
      let machine = machine(of: ref)
    else { return false }
    let size = fileSize(of: ref)
    guard plan.canEverFit(size, of: ref.node, isDiscretionary: isDiscretionary(ref)) else { return false }
    return uploads[upload].rules.progress(resuming: begun, size: size).nextTransfer
      .map { !machine.next($0, size: size).isSending } ?? false
  }

  private mutating func skip(_ upload: Int, _ item: Int, _ size: Int64) {
    let ref = ItemRef(uploads[upload].node, item)
    guard plan.canEverFit(fileSize(of: ref), of: ref.node, isDiscretionary: isDiscretionary(ref)) else {
      _ = beginNextItem(of: upload)
      return end(ref, .failed, .neverFits(fileSize(of: ref)))
    }
    if now >= deadline(of: ref) {
      _ = beginNextItem(of: upload)
      return runOut(ref)
    }
    _ = uploads[upload].pending.removeFirst()
    uploads[upload].skipped.insert(SkippedItem(size: size, item: item))
    passSkipped(of: upload)
  }

  /// Whether a step of higher priority can be sent immediately, without waiting for the disk. The next part of a file also
  /// precedes a transfer without an intent. One with an intent is sent soon: if the launch were killed before, its outcome
  /// would be unknown.
  func isOvertaken(_ intended: Ready, on hostQueue: Int) -> Bool {
    if let top = hostQueues[hostQueue].ready.min,
      top.priority < intended.priority || (top < intended && intent(of: intended.ref) != .recorded)
    {
      return !needsEntry(top)
    }
    guard let source = eligibleSource(hostQueue), uploads[source].priority < intended.priority,
      case .upload(let work) = plan.nodes[uploads[source].node.index].work
    else { return false }
    // If a budget skips the item, or an earlier launch began it, the item might not overtake the step.
    return gateOfNext(source) == nil && uploads[source].items.begun.isEmpty
      && work.first.repeatability != .once
  }
}
