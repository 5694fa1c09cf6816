/// The faults in force, and how far each has counted.
struct FaultPlan {
  private struct Entry {
    let fault: Fault
    var seen = 0
    var happened = 0
  }

  private var entries: [Entry] = []

  /// The faults, in the order in which they were asked for.
  var faults: [Fault] { entries.map(\.fault) }

  /// Adds a fault, which counts from now on.
  mutating func add(_ fault: Fault) {
    entries.append(Entry(fault: fault))
  }

  mutating func removeAll() {
    entries.removeAll()
  }

  /// Counts a request, and returns what is to go wrong with it.
  ///
  /// Every fault counts every request of its kind, or of those the ones that its `match` is in. Where several are due, the first that was asked for
  /// happens, and the others have missed their turn.
  ///
  /// - Parameter target: the path and the query of the request, as they came.
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
