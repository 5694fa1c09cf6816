/// The active faults and their counters.
struct FaultPlan {
  private struct Entry {
    let fault: Fault
    var seen = 0
    var happened = 0
  }

  private var entries: [Entry] = []

  /// The faults, in the order in which they were added.
  var faults: [Fault] { entries.map(\.fault) }

  /// Adds a fault, which counts only later requests.
  mutating func add(_ fault: Fault) {
    entries.append(Entry(fault: fault))
  }

  mutating func removeAll() {
    entries.removeAll()
  }

  /// Counts a request, and returns the fault that applies to it.
  ///
  /// Every fault counts the requests of its kind whose target contains its `match`, if it has one. If several
  /// faults are due, only the one that was added first occurs; the others are skipped.
  ///
  /// - Parameter target: the path and query of the request, as received.
  mutating func count(_ route: RouteClass, target: String = "") -> Fault? {
    var chosen: Fault?
    for index in entries.indices {
      let fault = entries[index].fault
      guard fault.route == .any || fault.route == route else { continue }
      if let match = fault.match, !target.contains(match) { continue }
      entries[index].seen += 1
      let isSpent = fault.times.map { entries[index].happened >= $0 } ?? false
      guard chosen == nil, !isSpent, entries[index].seen.isMultiple(of: fault.every) else { continue }
      entries[index].happened += 1
      chosen = fault
    }
    return chosen
  }
}
