import FerryPlan

/// The journal rows of one upload, in columns instead of one object per row.
package struct ItemRows: Sendable {
  /// The files in the order in which they were first queued: row 1 is at index 0.
  package private(set) var files = FileColumns()
  package private(set) var states: [ItemState] = []
  private(set) var intents: [ItemStep?] = []
  private(set) var rounds: [Int64] = []
  private(set) var handedOver: [Int64] = []
  /// The expiry times; `Int64.max` for a row without expiry.
  private(set) var expiries: [Int64] = []
  /// The upload IDs; 0 for a row without an upload ID.
  private(set) var uploadIDs: [Int] = []
  /// The number of changes so far. As long as this number stays the same, so do the rows.
  private(set) var version = 0
  /// The last round in which items were queued.
  private(set) var lastRound: Int64 = 0
  /// The number of rows that are not done.
  private(set) var notDone = 0
  /// The idempotency key of the upload's commits. A world does not edit its manifest, so the key never changes.
  private let commitKey: CommitKey?
  /// The indices of the rows, sorted by path; `nil` if the rows are already in that order.
  private var byPath: [Int32]?

  package init(commitKey: CommitKey? = nil) { self.commitKey = commitKey }

  package var count: Int { states.count }

  package func known(_ index: Int) -> Reconciliation.Known {
    Reconciliation.Known(
      row: Int64(index + 1), round: rounds[index], state: states[index], intent: intents[index],
      size: files.sizes[index], modified: files.modified[index],
      handedOver: Instant(nanoseconds: handedOver[index]),
      expires: expiries[index] == .max ? nil : Instant(nanoseconds: expiries[index]),
      commitKey: intents[index] == nil ? nil : commitKey)
  }

  package func uploadID(_ index: Int) -> Int? { uploadIDs[index] == 0 ? nil : uploadIDs[index] }

  /// Merges all rows, in order of path bytes.
  func meet(_ reconciliation: inout Reconciliation) {
    // The bytes are accessed once for all rows: a simulated year merges a hundred thousand rows for each launch.
    files.paths.withUnsafeBytes { paths in
      guard let byPath else {
        for index in states.indices { meet(index, paths, &reconciliation) }
        return
      }
      for index in byPath { meet(Int(index), paths, &reconciliation) }
    }
  }

  private func meet(_ index: Int, _ paths: UnsafeRawBufferPointer, _ reconciliation: inout Reconciliation) {
    let path = UnsafeRawBufferPointer(rebasing: paths[files.pathRange(index)])
    guard states[index] == .done else { return reconciliation.meet(known(index), path: path) }
    reconciliation.meetDelivered(
      row: Int64(index + 1), round: rounds[index], size: files.sizes[index], modified: files.modified[index],
      path: path)
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

  /// Sorts the rows by path. Must be called after rows have been appended.
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

  /// Sets a new state, and removes the intent and the expiry.
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
