import FerryPlan
import FerrySimulation

/// Gives tests access to the virtual journal by path.
struct ModelJournal {
  struct Item {
    var known: Reconciliation.Known
    var uploadID: Int?
  }

  fileprivate(set) var virtual: VirtualJournal

  /// Items by node and path.
  var items: [Int: [[UInt8]: Item]] {
    var items: [Int: [[UInt8]: Item]] = [:]
    for (node, rows) in virtual.items.enumerated() {
      for row in 0..<rows.count {
        items[node, default: [:]][Array(rows.files.path(row))] = Item(
          known: rows.known(row), uploadID: rows.uploadID(row))
      }
    }
    return items
  }

  var fetches: [Int: VirtualJournal.Fetched] {
    get { virtual.fetches }
    set { virtual.fetches = newValue }
  }

  var failedFetches: [Int: FailedFetch] { virtual.failedFetches }
}

extension World {
  var journal: ModelJournal {
    get { ModelJournal(virtual: machine.journal) }
    set { machine.journal = newValue.virtual }
  }
}
