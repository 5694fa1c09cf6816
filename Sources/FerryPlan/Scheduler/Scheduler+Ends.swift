import FerryManifest

/// The end of an item or a single request, in this round or in this launch.
extension Scheduler {
  /// The item's, or the single request's, end in this round.
  mutating func end(_ place: Place, _ state: ItemState, _ failure: RecordedFailure?) {
    releaseReservation(place)
    if (state == .failed || state == .cancelled), self[progress: place]?.isCommitUnknown == true {
      // Whoever sends the file again might do twice what the server did at the commit.
      let reason = failure.map { ": \($0.message)" } ?? ""
      return end(
        place, .ambiguous,
        .init(
          code: "answer_lost", status: failure?.status, message: "commit may have been carried out\(reason)"))
    }
    guard let item = place.item, let upload = uploadIndex[place.node.index] else {
      let troubles = nodes[place.node.index].progress?.troubles ?? []
      tally.nodeTroubles[place.node] = troubles.isEmpty ? nil : troubles
      nodes[place.node.index].progress = nil
      if case .fetch = plan.nodes[place.node.index].work, state != .done {
        nodes[place.node.index].fetchResult = .failed
      }
      let outcome: NodeOutcome =
        switch state {
        case .done: .succeeded
        case .ambiguous: .ambiguous
        case .cancelled: .skipped
        case .queued, .allocated, .transferred, .failed: .failed
        }
      return finishNode(place.node.index, outcome, failure)
    }
    switch state {
    case .failed: orphanUploadID(of: place, .failed)
    case .cancelled: orphanUploadID(of: place, .cancelled)
    case .queued, .allocated, .transferred, .done, .ambiguous: break
    }
    entries.append(.closed(place, state, failure, at: now))
    remove(item, of: upload, state, failure)
    switch state {
    case .done:
      uploads[upload].counts.done += 1
      tally.itemsDone += 1
      uploads[upload].items.phases[item] = .done
    case .ambiguous:
      uploads[upload].counts.ambiguous += 1
      uploads[upload].items.phases[item] = .ambiguous
    case .cancelled:
      uploads[upload].counts.cancelled += 1
      uploads[upload].items.phases[item] = .cancelled
    case .queued, .allocated, .transferred, .failed:
      uploads[upload].counts.failed += 1
      uploads[upload].items.phases[item] = .failed
    }
    closeIfThrough(upload)
  }

  /// Not in this launch any more.
  mutating func leave(_ place: Place, _ failure: RecordedFailure) {
    if plan.nodes[place.node.index].kind == .token { return fail(token: place.node, failure) }
    if place.orphan != nil { return leaveRelease(place, failure) }
    if let progress = self[progress: place], progress.intent == .recorded, !progress.isCommitUnknown {
      withdrawIntent(of: place)
    }
    releaseReservation(place)
    note(failure, of: place.node)
    if !failure.isDeferral, ![.maxDuration, .expired, .stopped].contains(failure), failure.code != "token" {
      note(.temporary, of: place.node)
    }
    guard let item = place.item, let upload = uploadIndex[place.node.index] else {
      nodes[place.node.index].phase = .left(failure)
      let troubles = nodes[place.node.index].progress?.troubles ?? []
      tally.nodeTroubles[place.node] = troubles.isEmpty ? nil : troubles
      nodes[place.node.index].progress = nil
      return
    }
    remove(item, of: upload, .queued, failure)
    uploads[upload].counts.waiting += 1
    uploads[upload].items.phases[item] = .left
    closeIfThrough(upload)
  }

  /// The request that was about to be sent was not carried out: the journal has again what it had before.
  ///
  /// Of a commit that a person wants sent again that is the doubt, unless the probe has ended it.
  mutating func withdrawIntent(of place: Place) {
    guard let item = place.item, let upload = uploadIndex[place.node.index],
      uploads[upload].items.begun[item]?.intent == .commitAgain, self[progress: place]?.mayCount == true
    else { return entries.append(.withdrawn(place)) }
    entries.append(.intent(place, .commitAgain))
  }

  private mutating func remove(_ item: Int, of upload: Int, _ state: ItemState, _ failure: RecordedFailure?) {
    let place = Place(uploads[upload].node, item)
    leaveAhead(place)
    if uploads[upload].active[item]?.isSent != true { uploads[upload].batchSending -= 1 }
    let progress = uploads[upload].active.removeValue(forKey: item)
    let troubles = progress?.troubles ?? []
    uploads[upload].inProgress -= 1
    uploads[upload].open -= 1
    uploads[upload].batchOpen -= 1
    guard state != .done || !troubles.isEmpty else { return }
    // What no launch had begun is only counted.
    guard state != .cancelled || progress != nil || uploads[upload].items.begun[item] != nil else { return }
    tally.notes.append(ItemNote(place: place, state: state, failure: failure, troubles: troubles))
  }

  subscript(progress place: Place) -> Progress? {
    get {
      if let orphan = place.orphan {
        return uploadIndex[place.node.index].flatMap { uploads[$0].releases.active[orphan] }
      }
      guard let item = place.item else { return nodes[place.node.index].progress }
      return uploadIndex[place.node.index].flatMap { uploads[$0].active[item] }
    }
    set {
      if let orphan = place.orphan {
        if let upload = uploadIndex[place.node.index] { uploads[upload].releases.active[orphan] = newValue }
        return
      }
      guard let item = place.item else {
        nodes[place.node.index].progress = newValue
        return
      }
      if let upload = uploadIndex[place.node.index] { uploads[upload].active[item] = newValue }
    }
  }
}
