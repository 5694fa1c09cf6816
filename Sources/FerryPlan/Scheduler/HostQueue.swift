import HeapModule

/// The connections of one session to one host, and what waits for them.
struct HostQueue: Sendable {
  struct Key: Hashable, Sendable {
    var session: SessionID
    /// `nil` where only the run tells; such requests of a session share one lane.
    var origin: Origin?
  }

  let key: Key
  /// `max_connections_per_host`.
  let limit: Int
  var inFlight = 0
  /// Whether steps that are never sent again go through here: their intents go ahead of the connections.
  var needsIntents = false
  /// Steps that may be sent, best first.
  var ready = Heap<Ready>()
  /// Steps whose intent is on disk, best first.
  var intended = Heap<Ready>()
  /// Steps whose intent is being written.
  var intending: [(sequence: UInt64, ready: Ready)] = []
  /// Uploads whose first step goes through here, by priority.
  var sources: [Int] = []
  /// Not before this moment, after the host failed or asked for patience.
  var resumeAt: Instant?
  /// Waves of failures in a row.
  var failures = 0
  /// Attempts begun before this moment belong to the last wave.
  var waveEnded: Instant?
  /// Why nothing may be sent under the present conditions, or as the execution window has ended.
  var hold: RecordedFailure?
  /// The host was given up for this launch.
  var givenUp: RecordedFailure?

  init(key: Key, limit: Int, hold: RecordedFailure?) {
    self.hold = hold
    self.key = key
    self.limit = limit
  }

  /// How many more requests may start: one alone asks a host that failed whether it is back.
  func freeSlots(at now: Instant) -> Int {
    if givenUp != nil || hold != nil { return 0 }
    if let resumeAt, now < resumeAt { return 0 }
    return (failures > 0 ? 1 : limit) - inFlight
  }

  /// Takes out what waits here.
  mutating func take(where isWanted: (Ready) -> Bool) -> [Ready] {
    let waiting = ready.unordered + intended.unordered + intending.map(\.ready)
    let taken = waiting.filter(isWanted)
    guard !taken.isEmpty else { return [] }
    ready = .init(ready.unordered.filter { !isWanted($0) })
    intended = .init(intended.unordered.filter { !isWanted($0) })
    intending.removeAll { isWanted($0.ready) }
    return taken
  }

  /// Intents are written ahead for at most twice as many items as there are connections.
  var intentRoom: Int { 2 * limit - intending.count - intended.count }

  /// Those of commits, which take no connection meanwhile, for more: a sync is longer than many a commit. After a kill
  /// each of them may have been carried out.
  var commitRoom: Int { max(2 * limit, 64) - intending.count - intended.count }
}

/// A step that waits for a connection.
struct Ready: Comparable, Sendable {
  /// Lower goes first: priority, then later steps before earlier ones, then age.
  let key: UInt64
  let ref: ItemRef
  let step: Step.Kind

  init(ref: ItemRef, step: Step.Kind, priority: UInt16, sequence: UInt64) {
    let rank: UInt64 =
      switch step {
      case .token: 0
      case .commit, .probe: 1
      case .transfer: 2
      case .allocate, .fetch, .request: 3
      case .abandon: 4
      }
    key = UInt64(priority) << 48 | rank << 45 | (sequence & ((1 << 45) - 1))
    self.ref = ref
    self.step = step
  }

  /// 0 is the highest.
  var priority: UInt16 { UInt16(truncatingIfNeeded: key >> 48) }

  static func < (a: Self, b: Self) -> Bool { a.key < b.key }
  static func == (a: Self, b: Self) -> Bool { a.key == b.key }
}

/// A step that waits for a moment.
struct Timer: Comparable, Sendable {
  let at: Instant
  let ready: Ready

  static func < (a: Self, b: Self) -> Bool { a.at < b.at }
  static func == (a: Self, b: Self) -> Bool { a.at == b.at }
}
