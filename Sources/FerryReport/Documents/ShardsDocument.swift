import FerryPlan

/// The state of a manifest's shards, as written by `ferry status --shards --format json`. The JSON keys are a stable
/// public interface.
package struct ShardsDocument: Encodable, Sendable {
  package var version = 1
  /// The time at which the state was read.
  package var at: String
  /// The number of shards.
  package var count: Int
  /// The parts: first the work that runs once, if it has a state folder, then every shard.
  package var parts: [Entry]
  /// The items of all shards in their last rounds.
  package var items: StatusDocument.Items

  package enum State: String, Encodable, Sendable {
    /// There is no run.
    case notStarted = "not_started"
    case running
    /// The last run has not ended, and its process is not on this machine; another machine may be running it.
    case runningElsewhere = "running_elsewhere"
    case interrupted
    case ended
  }

  package struct Entry: Encodable, Sendable {
    /// `once`, or a shard as in `--shard`.
    package var part: String
    /// The state folder.
    package var folder: String
    package var state: State
    package var round: Int64?
    /// The identifier of the last run, followed by the values of that run; absent if there was no run.
    package var run: String?
    package var startedAt: String?
    package var endedAt: String?
    package var exitCode: Int32?
    /// The process, if it is running on this machine.
    package var pid: Int32?
    /// The items in the round `round`, as recorded in the journals; absent for the work that runs once.
    package var items: StatusDocument.Items?
    /// The reason why the state cannot be read.
    package var problem: String?

    package init(part: String, folder: String) {
      self.part = part
      self.folder = folder
      state = .notStarted
    }
  }

  package init(at: Instant, count: Int, parts: [Entry]) {
    self.at = at.rfc3339
    self.count = count
    self.parts = parts
    items = parts.compactMap(\.items).reduce(into: StatusDocument.Items()) { $0.add($1) }
  }

  /// Whether a process is running one of the parts.
  package var isRunning: Bool { parts.contains { $0.state == .running || $0.state == .runningElsewhere } }
  package var isWhole: Bool { parts.allSatisfy { $0.problem == nil } }
}

extension StatusDocument.Items {
  /// Adds the counts of another part.
  package mutating func add(_ other: Self) {
    queued += other.queued
    allocated += other.allocated
    transferred += other.transferred
    done += other.done
    failed += other.failed
    ambiguous += other.ambiguous
    cancelled += other.cancelled
    doneBefore += other.doneBefore
  }

  /// Items that have begun or are queued, and have not ended.
  package var open: Int { queued + allocated + transferred }
}
