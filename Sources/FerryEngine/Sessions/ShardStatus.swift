import FerryJournal
import FerryPlan
import FerryReport

/// The state of a manifest's shards, as recorded in their state folders.
package enum ShardStatus {
  /// - Parameter path: the state folder of the whole manifest, the folder with its parts, or the folder of one part.
  package static func document(_ path: String, at now: Instant) throws -> ShardsDocument {
    let found = try ShardFolders.parts(at: path)
    let count = found.map(\.marker.count).max() ?? 0
    var entries: [ShardsDocument.Entry] = []
    var shards: [Int: ShardFolders.Part] = [:]
    for part in found where part.marker.count == count {
      switch part.marker {
      case .once: entries.append(entry(part, "once"))
      case .shard(let shard): shards[shard.number] = part
      }
    }
    let isPart = try StateDirectory(explicit: AbsolutePath.text(of: path), environment: [:]).storedPart != nil
    for number in 1...max(1, count) {
      if let part = shards[number] {
        entries.append(entry(part, "\(number)/\(count)"))
      } else if !isPart {
        entries.append(.init(part: "\(number)/\(count)", folder: ""))
      }
    }
    return ShardsDocument(at: now, count: count, parts: entries)
  }

  private static func entry(_ part: ShardFolders.Part, _ name: String) -> ShardsDocument.Entry {
    var entry = ShardsDocument.Entry(part: name, folder: part.state.path)
    do {
      try read(part, &entry)
    } catch {
      entry.problem = EngineFault.describe(error)
    }
    return entry
  }

  private static func read(_ part: ShardFolders.Part, _ entry: inout ShardsDocument.Entry) throws {
    let history = try RunHistory.openForReading(in: part.state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    guard let run = try history.runs(limit: 1).first, let round = run.rounds.first else { return }
    entry.round = round.number
    entry.run = run.id
    entry.startedAt = run.startedAt.rfc3339
    entry.endedAt = run.endedAt?.rfc3339
    entry.exitCode = run.exitCode
    switch run.state {
    case .ended: entry.state = .ended
    case .interrupted: entry.state = .interrupted
    case .running:
      if run.process.isAlive {
        (entry.state, entry.pid) = (.running, run.process.pid)
      } else {
        entry.state = run.process.boot == ProcessIdentity.current.boot ? .interrupted : .runningElsewhere
      }
    }
    guard case .shard = part.marker else { return }
    var items = StatusDocument.Items()
    for session in try part.state.sessions() {
      let journal = try SessionJournal.openForReading(session: session, in: part.state)
      defer { try? journal.close() }  // The journal was only read, so closing it cannot lose data.
      items.add(StatusDocument.Items(try journal.countsByRound(), round: round.number))
    }
    entry.items = items
  }
}
