import FerryJournal
import FerryPlan

/// A copy of a row, for comparison.
struct JournalItem: Equatable {
  var id: Int64
  var path: [UInt8]
  var round: Int64
  var state: ItemState
  var intent: ItemStep?
  var size: Int64
  var modified: Int64
  var handedOver: Instant
  var expires: Instant?
  var closedAt: Instant?
  var sha256: [UInt8]?
  var captures: [CapturedValue]
  var failure: RecordedFailure?
  var commitKey: CommitKey?
  var servers: String?

  init(_ row: borrowing ItemRow) throws {
    id = row.id
    path = row.path
    round = row.round
    state = try row.state
    intent = try row.intent
    size = row.size
    modified = row.modified
    handedOver = row.handedOver
    expires = row.expires
    closedAt = row.closedAt
    sha256 = row.sha256
    captures = try row.captures
    failure = row.failure
    commitKey = try row.commitKey
    servers = row.servers
  }
}

extension SessionJournal {
  func items(_ node: Int64) throws -> [JournalItem] {
    var items: [JournalItem] = []
    try forEachItem(node: node) { items.append(try JournalItem($0)) }
    return items
  }

  func photos() throws -> NodeRow {
    try node(manifest: "m", name: "photos", kind: .upload, origin: "https://example.org:443")
  }

  /// Writes through a writer that is closed afterwards, so everything is synced.
  func write(_ writes: [JournalWrite]) throws {
    let writer = try JournalWriter(journals: [self]) { _ in }
    try writer.append(writes, to: 0)
    try writer.close()
  }
}
