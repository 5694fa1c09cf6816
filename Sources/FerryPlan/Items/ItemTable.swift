/// For one upload: the items that this launch may process, in columns.
package struct ItemTable: Sendable {
  package var files = FileColumns()
  /// The journal row of each item.
  package var rows: [Int64] = []
  package var phases: [Phase] = []
  package var entries: [Entry] = []
  /// The time at which each item was queued in this round, in nanoseconds since 1970; `notHandedOver` if it
  /// has not been queued.
  package var handedOver: [Int64] = []
  /// The state of the few items that an earlier launch began.
  package var begun: [Int: Begun] = [:]

  /// The progress of this launch on an item.
  package enum Phase: UInt8, Sendable {
    case waiting
    case active
    case done
    case failed
    case ambiguous
    case cancelled
    /// The item remains for a later launch.
    case left
  }

  /// How an item entered this round.
  package enum Entry: UInt8, Sendable {
    /// The item is new to the journal.
    case new
    /// The item is known to the journal, and is queued again because of a new round or a changed file.
    case requeued
    /// An earlier launch in this round left the item open, but it is queued again because the file has
    /// changed.
    case changed
    /// An earlier launch in this round left the item open.
    case continuing
    /// The item began but did not end in an earlier round, and continues in this one.
    case adopted

    /// Whether earlier work on the item, including its upload ID, no longer applies.
    package var isQueuedAnew: Bool { self == .requeued || self == .changed }
  }

  /// An item that an earlier launch began.
  package struct Begun: Hashable, Sendable {
    package var state: ItemState
    package var expires: Instant?
    /// The commit or unrepeatable step that was about to be sent and whose outcome is unknown.
    package var intent: ItemStep?
    /// The idempotency key of the commit that may have been sent; `nil` if the commit was sent without a key.
    package var commitKey: CommitKey?

    package init(
      state: ItemState, expires: Instant? = nil, intent: ItemStep? = nil, commitKey: CommitKey? = nil
    ) {
      self.state = state
      self.expires = expires
      self.intent = intent
      self.commitKey = commitKey
    }
  }

  /// The counting point recorded in the journal for the upload IDs of the begun items; `nil` if none
  /// is recorded. In that case, the counting point of the upload applies.
  package var countingPoint: CountingPoint?

  /// The servers that the list of a download batch determines. Only items of these servers have a number in
  /// `servers`.
  package private(set) var origins: [Origin] = []
  /// For each item, the position of its server in `origins`; empty if no item has one.
  private var servers: [UInt8?] = []

  package init() {}

  package var count: Int { files.count }

  package mutating func append(
    path: some Collection<UInt8>, size: Int64, modified: Int64, identity: UInt64 = 0, row: Int64,
    entry: Entry, handedOver: Instant? = nil, begun: Begun? = nil
  ) {
    if let begun { self.begun[count] = begun }
    files.append(path: path, size: size, modified: modified, identity: identity)
    rows.append(row)
    phases.append(.waiting)
    entries.append(entry)
    self.handedOver.append(handedOver?.nanoseconds ?? Self.notHandedOver)
  }

  package static let notHandedOver = Int64.min

  /// Reserves capacity for this number of items.
  mutating func reserveCapacity(_ count: Int, pathBytes: Int) {
    files.reserveCapacity(count, pathBytes: pathBytes)
    rows.reserveCapacity(count)
    phases.reserveCapacity(count)
    entries.reserveCapacity(count)
    handedOver.reserveCapacity(count)
  }
}

/// The servers that the list of a download batch determines.
extension ItemTable {
  /// The maximum number of servers with separate queues. A list may name any number of servers. The items of
  /// all servers beyond this number share one queue.
  static let mostOrigins = 64

  /// The server of an item; `nil` if its step determines the server, or if there are too many servers.
  package func origin(of item: Int) -> Origin? {
    guard item < servers.count, let server = servers[item] else { return nil }
    return origins[Int(server)]
  }

  package mutating func set(_ origin: Origin, of item: Int) {
    guard let server = number(of: origin) else { return }
    if servers.count <= item {
      servers.append(contentsOf: repeatElement(nil, count: item + 1 - servers.count))
    }
    servers[item] = server
  }

  private mutating func number(of origin: Origin) -> UInt8? {
    if let known = origins.firstIndex(of: origin) { return UInt8(known) }
    guard origins.count < Self.mostOrigins else { return nil }
    origins.append(origin)
    return UInt8(origins.count - 1)
  }
}

extension ItemTable {
  /// Appends items after the existing ones.
  package mutating func append(contentsOf other: ItemTable) {
    let first = count
    files.append(0..<other.count, of: other.files)
    rows += other.rows
    phases += repeatElement(.waiting, count: other.count)
    entries += other.entries
    handedOver += other.handedOver
    for (item, state) in other.begun { begun[first + item] = state }
    guard !other.origins.isEmpty else { return }
    for item in 0..<other.count {
      if let origin = other.origin(of: item) { set(origin, of: first + item) }
    }
  }

  /// Appends a range of listed files as new items, whose rows in the journal are numbered from `firstRow`.
  mutating func append(new range: Range<Int>, of listing: FileColumns, firstRow: Int64) {
    files.append(range, of: listing)
    rows.append(contentsOf: firstRow..<(firstRow + Int64(range.count)))
    phases.append(contentsOf: repeatElement(.waiting, count: range.count))
    entries.append(contentsOf: repeatElement(.new, count: range.count))
    handedOver.append(contentsOf: repeatElement(Self.notHandedOver, count: range.count))
  }
}
