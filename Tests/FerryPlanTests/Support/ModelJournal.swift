import FerryManifest
import FerryPlan

/// What the journal would hold: entries are applied as the engine's scribe applies them.
struct ModelJournal {
  struct Item {
    var known: Reconciliation.Known
    var uploadID: Int?
  }

  struct Single {
    var round: Int64
    var state = ItemState.queued
    var hasIntent = false
  }

  /// The last fetch that ended well.
  struct Fetched {
    var at: Instant
    var interval: Duration?
  }

  /// By node, by path.
  var items: [Int: [[UInt8]: Item]] = [:]
  /// Nodes of a single request.
  var singles: [Int: Single] = [:]
  var fetches: [Int: Fetched] = [:]
  /// By session.
  var delays: [SessionID: ResumeState] = [:]
  /// Sessions whose `on_events` is owed.
  var owedEvents: Set<SessionID> = []

  mutating func apply(_ entry: JournalEntry, tables: [Int: ItemTable], ids: [Place: Int], round: Int64) {
    switch entry {
    case .handedOver(let node, let range, let at):
      guard let table = tables[node.index] else { return }
      for item in range where table.entries[item] != .continuing {
        items[node.index, default: [:]][Array(table.files.path(item))] = Item(
          known: .init(
            row: table.rows[item], round: round, state: .queued, size: table.files.sizes[item],
            modified: table.files.modified[item], handedOver: at))
      }
    case .intent(let place, let step):
      change(place, tables) { $0.known.intent = step ?? .transfer }
      if place.item == nil { singles[place.node.index] = Single(round: round, hasIntent: true) }
    case .withdrawn(let place):
      change(place, tables) { $0.known.intent = nil }
      if place.item == nil { singles[place.node.index]?.hasIntent = false }
    case .allocated(let place, let expires):
      change(place, tables) {
        $0.known.state = .allocated
        $0.known.intent = nil
        $0.known.expires = expires
        $0.uploadID = ids[place]
      }
    case .transferred(let place):
      change(place, tables) {
        $0.known.state = .transferred
        $0.known.intent = nil
      }
    case .released(let place):
      change(place, tables) {
        $0.known.state = .queued
        $0.known.intent = nil
        $0.known.expires = nil
        $0.uploadID = nil
      }
    case .resumed(let session, let delay): delays[session] = delay
    case .batchThrough(let session): owedEvents.insert(session)
    case .closed(let place, let state, _, _):
      change(place, tables) {
        $0.known.state = state
        $0.known.intent = nil
        $0.known.expires = nil
      }
      if place.item == nil { singles[place.node.index] = Single(round: round, state: state) }
    }
  }

  private mutating func change(_ place: Place, _ tables: [Int: ItemTable], _ body: (inout Item) -> Void) {
    guard let item = place.item, let table = tables[place.node.index] else { return }
    let path = Array(table.files.path(item))
    guard var known = items[place.node.index]?[path] else { return }
    body(&known)
    items[place.node.index]?[path] = known
  }
}
