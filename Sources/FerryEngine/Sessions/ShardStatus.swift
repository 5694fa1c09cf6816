import FerryJournal
import FerryPlan
import FerryReport

/// The state of a manifest's shards, as recorded in their state folders.
///
/// Repeated calls read only the databases of the shards that have changed.
package struct ShardStatus {
  private let path: String
  private var known: [String: Known] = [:]
  /// The number of shards whose databases were read.
  package private(set) var reads = 0

  /// The state of a shard when it was last read.
  private struct Known {
    var entry: ShardsDocument.Entry
    var version: StateVersion
    /// The shard's last run, if its end is not recorded.
    var run: OpenRun?
    /// The time at which this version was read for the first time.
    var firstRead: Instant
    /// Whether this version was read again so much later that any change since then has a different version.
    var isSettled: Bool

    /// The resolution of file times: file systems have one of milliseconds or seconds.
    private static let resolution = Duration.seconds(2)

    /// - Parameter earlier: the last reading. Both readings use the clock of this machine. The times of files do not
    ///   help, because the clock of a file server may differ.
    init(
      entry: ShardsDocument.Entry, version: StateVersion, run: OpenRun?, earlier: Known?, at now: Instant
    ) {
      (self.entry, self.version, self.run) = (entry, version, run)
      firstRead = earlier.flatMap { $0.version == version ? $0.firstRead : nil } ?? now
      isSettled = firstRead.duration(to: now) >= Self.resolution
    }

    /// Whether the shard has certainly not changed since it was read.
    func isCurrent(_ now: StateVersion, in state: StateDirectory) throws(JournalError) -> Bool {
      guard isSettled, version == now else { return false }
      guard let run else { return true }
      return run.state == (try run.row.stateOfShard(in: state))
    }
  }

  /// A run whose end is not recorded, and the state that its process had.
  private struct OpenRun {
    var row: RunRow
    var state: ShardsDocument.State

    init(_ row: RunRow, in state: StateDirectory) throws(JournalError) {
      self.row = row
      self.state = try row.stateOfShard(in: state)
    }
  }

  /// - Parameter path: the state folder of the whole manifest, the folder with its parts, or the folder of one part.
  package init(_ path: String) { self.path = path }

  package mutating func document(at now: Instant) throws -> ShardsDocument {
    let found = try ShardFolders.parts(at: path)
    let count = found.map(\.marker.count).max() ?? 0
    var entries: [ShardsDocument.Entry] = []
    var shards: [Int: ShardFolders.Part] = [:]
    for part in found where part.marker.count == count {
      switch part.marker {
      case .once: entries.append(entry(part, "once", at: now))
      case .shard(let shard): shards[shard.number] = part
      }
    }
    let isPart = try StateDirectory(explicit: AbsolutePath.text(of: path), environment: [:]).storedPart != nil
    for number in 1...max(1, count) {
      if let part = shards[number] {
        entries.append(entry(part, "\(number)/\(count)", at: now))
      } else if !isPart {
        entries.append(.init(part: "\(number)/\(count)", folder: ""))
      }
    }
    return ShardsDocument(at: now, count: count, parts: entries)
  }

  private mutating func entry(
    _ part: ShardFolders.Part, _ name: String, at now: Instant
  ) -> ShardsDocument.Entry {
    var entry = ShardsDocument.Entry(part: name, folder: part.state.path)
    do {
      // Determine the version before the databases are read, so that the next call notices a change during the read.
      let version = try StateVersion(part.state)
      if let known = known[part.state.path], try known.isCurrent(version, in: part.state) {
        return known.entry
      }
      reads += 1
      let run = try Self.read(part, &entry)
      known[part.state.path] = Known(
        entry: entry, version: version, run: run, earlier: known[part.state.path], at: now)
    } catch {
      known[part.state.path] = nil
      entry.problem = EngineFault.describe(error)
    }
    return entry
  }

  /// Reads the state of a part. Returns its last run, if the run's end is not recorded.
  private static func read(
    _ part: ShardFolders.Part, _ entry: inout ShardsDocument.Entry
  ) throws -> OpenRun? {
    // Fails if the folder is at the path of another part.
    _ = try part.state.storedPart
    let history = try RunHistory.openForReading(in: part.state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    guard let run = try history.runs(limit: 1).first, let round = run.rounds.first else { return nil }
    entry.round = round.number
    entry.run = run.id
    entry.startedAt = run.startedAt.rfc3339
    entry.endedAt = run.endedAt?.rfc3339
    entry.exitCode = run.exitCode
    var open: OpenRun?
    switch run.state {
    case .ended: entry.state = .ended
    case .interrupted: entry.state = .interrupted
    case .running:
      let started = try OpenRun(run, in: part.state)
      entry.state = started.state
      if started.state == .running { entry.pid = run.process.pid }
      open = started
    }
    if case .shard = part.marker {
      var items = StatusDocument.Items()
      for session in try part.state.sessions() {
        let journal = try SessionJournal.openForReading(session: session, in: part.state)
        defer { try? journal.close() }  // The journal was only read, so closing it cannot lose data.
        items.add(StatusDocument.Items(try journal.countsByRound(), round: round.number))
      }
      entry.items = items
    }
    return open
  }
}

extension RunRow {
  /// The state of a run of a part, whose process may be on another machine.
  func stateOfShard(in directory: StateDirectory) throws(JournalError) -> ShardsDocument.State {
    switch state {
    case .ended: return .ended
    case .interrupted: return .interrupted
    case .running: break
    }
    // The processes of another machine are unknown here and, on some file systems, so are its locks.
    guard process.boot == ProcessIdentity.current.boot else { return .runningElsewhere }
    return try isInterrupted(in: directory) ? .interrupted : .running
  }
}
