import FerryManifest

/// Discretionary tasks, which wait for external power. Whether a task is discretionary depends on when it was
/// queued, not on the current launch.
extension Scheduler {
  func isDiscretionary(_ session: SessionID, ifOfBackground isOfBackground: Bool) -> Bool {
    plan.sessions[session.index].isDiscretionary(ifOfBackground: isOfBackground)
  }

  /// Whether a task that is queued in the session now is discretionary.
  func isDiscretionary(ifNewIn session: SessionID) -> Bool {
    isDiscretionary(session, ifOfBackground: options.launch != .foreground)
  }

  /// The reason why a task that is queued in the session now waits under the current conditions.
  func holdOnNewTasks(of session: SessionID) -> RecordedFailure? {
    plan.sessions[session.index].hold(
      under: conditions, isDiscretionary: isDiscretionary(ifNewIn: session))
  }

  /// Whether a task is discretionary in its session.
  func isDiscretionary(_ ref: ItemRef) -> Bool { isDiscretionary(ref, in: session(of: ref.node)) }

  func isDiscretionary(_ ref: ItemRef, in session: SessionID) -> Bool {
    isDiscretionary(session, ifOfBackground: isOfBackground(ref, session))
  }

  /// Whether a task was queued in a launch other than a foreground launch, and no foreground launch has
  /// followed. A single request is a new task in each launch. A token belongs to the tasks that wait for it,
  /// which may be of either kind, so it is never inferred to be discretionary.
  private func isOfBackground(_ ref: ItemRef, _ session: SessionID) -> Bool {
    guard options.launch != .foreground, tokens[ref.node.index] == nil else { return false }
    guard let item = ref.item, let upload = uploadIndex[ref.node.index],
      let foregroundAt = sessions[session.index].foregroundAt
    else { return true }
    let handedOver = uploads[upload].items.handedOver[item]
    return handedOver == ItemTable.notHandedOver || handedOver > foregroundAt.nanoseconds
  }

  /// Records that no work queued so far is inferred to be discretionary. If the clock was ahead in the last
  /// foreground launch, the recorded time is corrected, so that the rule does not also apply to work queued
  /// from now on.
  mutating func noteForeground() {
    for index in sessions.indices where plan.sessions[index].discretionary == .inferred {
      if options.launch == .foreground {
        setForeground(SessionID(index), now)
      } else if let foregroundAt = sessions[index].foregroundAt, foregroundAt >= now {
        setForeground(SessionID(index), now.advanced(by: .nanoseconds(-1)))
      }
    }
  }

  private mutating func setForeground(_ session: SessionID, _ moment: Instant) {
    guard sessions[session.index].foregroundAt != moment else { return }
    sessions[session.index].foregroundAt = moment
    entries.append(.sessionInForeground(session, until: moment))
  }

  // MARK: Holding

  /// Whether a step waits in its queue because its task is discretionary.
  func isHeld(_ ref: ItemRef, on hostQueue: Int) -> Bool {
    hostQueues[hostQueue].holdsDiscretionary && isDiscretionary(ref, in: hostQueues[hostQueue].key.session)
  }

  /// Applies the current conditions to all host queues.
  mutating func holdHostQueues() {
    for hostQueue in hostQueues.indices {
      applyHold(to: hostQueue)
      let waiting = hostQueues[hostQueue].takeAll()
      for ready in waiting.ready { insert(ready, on: hostQueue) }
      for ready in waiting.intended { insertIntended(ready, on: hostQueue) }
    }
    for hostQueue in hostQueues.indices
    where hostQueues[hostQueue].hold != nil || hostQueues[hostQueue].holdsDiscretionary {
      withdrawIntents(on: hostQueue)
    }
  }

  mutating func applyHold(to hostQueue: Int) {
    let session = hostQueues[hostQueue].key.session
    hostQueues[hostQueue].hold = hold(on: session)
    hostQueues[hostQueue].holdsDiscretionary = holdOnNewTasks(of: session) != nil
  }

  mutating func insert(_ ready: Ready, on hostQueue: Int) {
    if isHeld(ready.ref, on: hostQueue) {
      hostQueues[hostQueue].held.append((ready, isIntended: false))
    } else {
      hostQueues[hostQueue].ready.insert(ready)
    }
  }

  mutating func insertIntended(_ ready: Ready, on hostQueue: Int) {
    if isHeld(ready.ref, on: hostQueue) {
      hostQueues[hostQueue].held.append((ready, isIntended: true))
    } else {
      hostQueues[hostQueue].intended.insert(ready)
    }
  }

  /// Applies the current conditions to an upload's items that have not begun.
  mutating func holdItems(of upload: Int) {
    let node = uploads[upload].node
    uploads[upload].isHeld = hold(on: node) != nil
    uploads[upload].holdsDiscretionary =
      plan.hold(on: plan.nodes[node.index], under: conditions) { isDiscretionary(ifNewIn: $0) } != nil
    if !uploads[upload].holdsDiscretionary, !uploads[upload].held.isEmpty {
      uploads[upload].pending.append(uploads[upload].held)
      uploads[upload].held = PendingItems()
    }
    uploads[upload].pending = holdDiscretionary(uploads[upload].pending, of: upload)
  }

  /// Holds the discretionary items among new items of an upload, and returns the others, which may begin.
  mutating func holdDiscretionary(_ items: PendingItems, of upload: Int) -> PendingItems {
    guard uploads[upload].holdsDiscretionary, !uploads[upload].isHeld, !items.isEmpty else { return items }
    let node = uploads[upload].node
    let held = items.items.filter { hold(on: ItemRef(node, $0)) != nil }
    guard !held.isEmpty else { return items }
    uploads[upload].held.append(PendingItems(held))
    return held.count == items.count
      ? PendingItems() : PendingItems(items.items.filter { hold(on: ItemRef(node, $0)) == nil })
  }

  /// Adds items in front of the items that may begin. Discretionary items that have to wait are held instead.
  mutating func prepend(_ items: PendingItems, to upload: Int) {
    let items = holdDiscretionary(items, of: upload)
    uploads[upload].pending.prepend(items)
  }

  /// The reason why a node's discretionary tasks wait, if some of them do.
  func holdOfDiscretionary(_ node: NodeID) -> RecordedFailure? {
    if let upload = uploadIndex[node.index], let item = uploads[upload].held.first {
      return hold(on: ItemRef(node, item))
    }
    let held = hostQueues.lazy.flatMap(\.held).first { $0.ready.ref.node == node }
    return held.flatMap { hold(on: $0.ready.ref) }
  }
}
