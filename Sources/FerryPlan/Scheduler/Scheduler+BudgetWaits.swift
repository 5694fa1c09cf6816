import FerryManifest

/// Work that waits for a budget while nothing else can start.
extension Scheduler {
  /// The ends of the budgets' windows for which work waits.
  var awaitedWindows: [Instant] {
    var moments = gates.indices.filter { gate in
      gates[gate].waiters.contains { fitsWindow($0, gate) && hasWindow(session(of: $0.ref.node)) }
    }.map { gates[$0].windowEnd }
    // By index: this runs in each turn, and the state of an upload is large.
    for upload in uploads.indices where !uploads[upload].isHeld {
      guard let (size, gate) = leastSkipped(upload), hasWindow(session(of: uploads[upload].node)),
        // If its items have different gates, a larger one may have a larger budget.
        gates[gate].fitsWindow(size) || gates.count > 1
      else { continue }
      moments.append(gates[gate].windowEnd)
    }
    return moments
  }

  /// Whether work exceeds a whole budget of this network, and could be sent on another one.
  var waitsForOtherNetwork: Bool {
    gates.indices.contains { gate in
      gates[gate].waiters.contains { !fitsWindow($0, gate) && hasWindow(session(of: $0.ref.node)) }
    }
      || uploads.indices.contains { upload in
        guard !uploads[upload].isHeld, let (size, gate) = leastSkipped(upload) else { return false }
        return !gates[gate].fitsWindow(size) && hasWindow(session(of: uploads[upload].node))
      }
  }

  /// Whether a whole window of the gate's budgets has room for the request.
  func fitsWindow(_ ready: Ready, _ gate: Int) -> Bool {
    gates[gate].fitsWindow(size(of: ready, gate) ?? 1)
  }

  /// The size of the smallest item of an upload that the budget has skipped, and its gate; `nil` if there is none.
  private func leastSkipped(_ upload: Int) -> (size: Int64, gate: Int)? {
    guard let least = uploads[upload].skipped.min,
      let gate = gate(of: ItemRef(uploads[upload].node, least.item))
    else { return nil }
    return (least.size, gate)
  }

  /// When no other work can start, releases all reservations if work waits for the budget. A request with a reservation may
  /// wait for a token or for other conditions, or need more than a window has beside its own reservation. Returns whether work
  /// is in progress.
  mutating func releaseIdleReservations() -> Bool {
    while let gate = gates.indices.first(where: { gates[$0].hasReservations && isAwaited($0) }) {
      let places = gates[gate].reservedPlaces
      for ref in places { release(ref, in: gate) }
      guard isAwaited(gate, exceptFor: Set(places)) else {
        returnSurplus(of: gate)
        continue
      }
      offerRoom(of: gate)
      fillHostQueues()
      guard flights.isEmpty, timers.isEmpty, !awaitsLease, hostQueues.allSatisfy(\.isIdle) else {
        return true
      }
    }
    return false
  }

  /// Whether work waits for a budget, other than these requests.
  private func isAwaited(_ gate: Int, exceptFor places: Set<ItemRef> = []) -> Bool {
    gates[gate].waiters.contains { !places.contains($0.ref) }
      || uploads.indices.contains { leastSkipped($0)?.gate == gate }
  }

  /// When no other work can start, sends the requests again whose responses were too large for the rest of an earlier
  /// window, one at a time. Returns whether work is in progress.
  mutating func retryPutAside() -> Bool {
    for gate in gates.indices {
      while let ready = gates[gate].takePutAside() {
        enqueue(ready)
        fillHostQueues()
        // If the request ended without being sent, because its time has passed, its end is recorded first.
        guard entries.isEmpty, flights.isEmpty, timers.isEmpty, !awaitsLease, hostQueues.allSatisfy(\.isIdle)
        else { return true }
      }
    }
    return false
  }
}
