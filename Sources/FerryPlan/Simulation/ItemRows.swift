/// The journal's rows of one upload, in columns: a row is no object of its own.
package struct ItemRows: Sendable {
  /// In the order in which they were handed over first: row 1 is at 0.
  package private(set) var files = FileColumns()
  package private(set) var states: [ItemState] = []
  private(set) var intents: [ItemStep?] = []
  private(set) var rounds: [Int64] = []
  private(set) var handedOver: [Int64] = []
  /// `Int64.max` for none.
  private(set) var expiries: [Int64] = []
  /// 0 for none.
  private(set) var uploadIDs: [Int] = []
  /// Counts what was changed: equal numbers are equal rows.
  private(set) var version = 0
  /// The last round in which something was handed over.
  private(set) var lastRound: Int64 = 0
  /// Rows that are not done.
  private(set) var notDone = 0
  /// Rows by path, where that is another order.
  private var byPath: [Int32]?

  package init() {}

  package var count: Int { states.count }

  package func known(_ index: Int) -> Reconciliation.Known {
    Reconciliation.Known(
      row: Int64(index + 1), round: rounds[index], state: states[index], intent: intents[index],
      size: files.sizes[index], modified: files.modified[index],
      handedOver: Instant(nanoseconds: handedOver[index]),
      expires: expiries[index] == .max ? nil : Instant(nanoseconds: expiries[index]))
  }

  package func uploadID(_ index: Int) -> Int? { uploadIDs[index] == 0 ? nil : uploadIDs[index] }

  /// Meets every row, sorted by path bytes.
  func meet(_ reconciliation: inout Reconciliation) {
    guard let byPath else {
      for index in states.indices { meet(index, &reconciliation) }
      return
    }
    for index in byPath { meet(Int(index), &reconciliation) }
  }

  private func meet(_ index: Int, _ reconciliation: inout Reconciliation) {
    files.path(index).withUnsafeBytes { reconciliation.meet(known(index), path: $0) }
  }

  mutating func append(path: ArraySlice<UInt8>, size: Int64, modified: Int64, round: Int64, at: Instant) {
    if byPath == nil, count > 0, !files.path(count - 1).lexicographicallyPrecedes(path) {
      byPath = (0..<Int32(count)).map(\.self)
    }
    files.append(path: path, size: size, modified: modified)
    states.append(.queued)
    intents.append(nil)
    rounds.append(round)
    handedOver.append(at.nanoseconds)
    expiries.append(.max)
    uploadIDs.append(0)
    lastRound = max(lastRound, round)
    notDone += 1
    version += 1
    let last = Int32(count - 1)
    byPath?.append(last)
  }

  /// After rows were appended.
  mutating func sort() {
    guard let order = byPath else { return }
    let files = files
    byPath = order.sorted { files.path(Int($0)).lexicographicallyPrecedes(files.path(Int($1))) }
  }

  mutating func requeue(_ index: Int, size: Int64, modified: Int64, round: Int64, at: Instant) {
    files.sizes[index] = size
    files.modified[index] = modified
    rounds[index] = round
    handedOver[index] = at.nanoseconds
    lastRound = max(lastRound, round)
    set(index, .queued)
    uploadIDs[index] = 0
  }

  mutating func adopt(_ index: Int, round: Int64, at: Instant) {
    rounds[index] = round
    handedOver[index] = at.nanoseconds
    lastRound = max(lastRound, round)
    version += 1
  }

  /// A new state; it has no intent and no expiry any more.
  mutating func set(_ index: Int, _ state: ItemState) {
    notDone += (state == .done ? 0 : 1) - (states[index] == .done ? 0 : 1)
    states[index] = state
    intents[index] = nil
    expiries[index] = .max
    version += 1
  }

  mutating func set(_ index: Int, intent: ItemStep?) {
    intents[index] = intent
    version += 1
  }

  mutating func set(_ index: Int, expires: Instant?) {
    expiries[index] = expires?.nanoseconds ?? .max
    version += 1
  }

  mutating func set(_ index: Int, uploadID: Int?) {
    uploadIDs[index] = uploadID ?? 0
    version += 1
  }
}
