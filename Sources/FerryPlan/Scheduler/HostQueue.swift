import HeapModule

/// The connections of one session to one host, and the steps that are waiting for them.
struct HostQueue: Sendable {
  struct Key: Hashable, Sendable {
    var session: SessionID
    /// The origin; `nil` if it is known only during the run. All requests of a session whose origins are
    /// unknown share one queue.
    var origin: Origin?
  }

  let key: Key
  /// The value of `max_connections_per_host`.
  let limit: Int
  /// The number of connections in use.
  var inFlight = 0
  /// Whether steps use this queue that wait for an entry in the journal. The entries are written before a connection is
  /// free.
  var needsEntries = false
  /// Steps that may be sent, in order of priority.
  var ready = Heap<Ready>()
  /// Steps whose intent is on disk, in order of priority.
  var intended = Heap<Ready>()
  /// Steps whose intent is being written.
  var intending: [(sequence: UInt64, ready: Ready)] = []
  /// Steps of discretionary tasks that wait for other conditions, and whether their intent is on disk.
  var held: [(ready: Ready, isIntended: Bool)] = []
  /// Items with a request in progress that may send further requests at the same time.
  var parallel: [ItemRef] = []
  /// Uploads whose first step uses this queue, by priority.
  var sources: [Int] = []
  /// Nothing is sent before this time, because the host failed or requested a pause.
  var resumeAt: Instant?
  /// The number of consecutive waves of failures.
  var failures = 0
  /// Attempts that began before this time belong to the last wave.
  var waveEnded: Instant?
  /// The reason why nothing may be sent under the current conditions, or after the end of the execution
  /// window.
  var hold: RecordedFailure?
  /// Whether discretionary tasks wait for other conditions.
  var holdsDiscretionary = false
  /// The reason why ferry has given up on the host for this launch.
  var givenUp: RecordedFailure?

  init(key: Key, limit: Int) {
    self.key = key
    self.limit = limit
  }

  /// All steps that are waiting in this queue, in no particular order.
  var waiting: [Ready] {
    ready.unordered + intended.unordered + intending.map(\.ready) + held.map(\.ready)
  }

  /// Removes the matching steps that are waiting in this queue, and returns them.
  mutating func take(where isWanted: (Ready) -> Bool) -> [Ready] {
    let taken = waiting.filter(isWanted)
    guard !taken.isEmpty else { return [] }
    ready = .init(ready.unordered.filter { !isWanted($0) })
    intended = .init(intended.unordered.filter { !isWanted($0) })
    intending.removeAll { isWanted($0.ready) }
    held.removeAll { isWanted($0.ready) }
    return taken
  }

  /// Removes all steps that may be sent or are held, and returns them.
  mutating func takeAll() -> (ready: [Ready], intended: [Ready]) {
    let all = (
      ready: ready.unordered + held.filter { !$0.isIntended }.map(\.ready),
      intended: intended.unordered + held.filter(\.isIntended).map(\.ready)
    )
    (ready, intended, held) = (.init(), .init(), [])
    return all
  }

  /// The steps that wait for an entry in the journal, or that are held or wait for a connection after their entry was
  /// recorded.
  var writtenAhead: [Ready] {
    intended.unordered + intending.map(\.ready) + held.filter(\.isIntended).map(\.ready)
  }

  /// Removes the matching steps of `writtenAhead`, and returns them.
  mutating func takeWrittenAhead(where isWanted: (Ready) -> Bool) -> [Ready] {
    let taken = writtenAhead.filter(isWanted)
    intended = .init(intended.unordered.filter { !isWanted($0) })
    intending.removeAll { isWanted($0.ready) }
    held.removeAll { $0.isIntended && isWanted($0.ready) }
    return taken
  }

  /// Inlined, because a call would copy the queue for each request; as for `commitRoom`.
  @inline(__always)
  var intentRoom: Int { IntentLimit.steps(connections: limit) - intending.count - intended.count }

  @inline(__always)
  var commitRoom: Int { IntentLimit.commits(connections: limit) - intending.count - intended.count }
}

/// A step that is waiting for a connection.
struct Ready: Comparable, Sendable {
  /// The priority, the rank of the step and its age, in this order; lower values go first.
  private(set) var key: UInt64
  let ref: ItemRef
  let step: Step.Kind

  init(ref: ItemRef, step: Step.Kind, priority: UInt16, sequence: UInt64) {
    key = UInt64(priority) << 48 | step.traits.rank << 45 | sequence & Self.sequenceMask
    self.ref = ref
    self.step = step
  }

  /// The lowest sequence of an ordinary step. Smaller ones are reserved for steps that precede others of their kind.
  static let firstSequence = (mostRetries + 1) << 32

  /// The greatest number of retries that a manifest can declare.
  private static let mostRetries: UInt64 = 1_023

  /// The sequence of a step that precedes others of its kind. Among these steps, the one with the most retries goes first,
  /// then the one of the first item.
  static func sequence(retries: Int, item: Int?) -> UInt64 {
    (mostRetries - min(UInt64(retries), mostRetries)) << 32 | UInt64(UInt32(clamping: item ?? 0))
  }

  /// The age of the step. A lower value means an older step, which goes first.
  var sequence: UInt64 {
    get { key & Self.sequenceMask }
    set { key = key & ~Self.sequenceMask | newValue & Self.sequenceMask }
  }

  private static let sequenceMask: UInt64 = 1 << 45 - 1

  /// The priority; 0 is the highest.
  var priority: UInt16 { UInt16(truncatingIfNeeded: key >> 48) }

  /// Only steps that precede others of their kind can have equal keys. The parts of files of two batches do not alternate.
  static func < (a: Self, b: Self) -> Bool {
    a.key != b.key ? a.key < b.key : a.ref.node.index < b.ref.node.index
  }
  static func == (a: Self, b: Self) -> Bool { a.key == b.key && a.ref.node == b.ref.node }
}

/// A step that is waiting until a given time.
struct Timer: Comparable, Sendable {
  let at: Instant
  let ready: Ready

  static func < (a: Self, b: Self) -> Bool { a.at < b.at }
  static func == (a: Self, b: Self) -> Bool { a.at == b.at }
}
