import FerryPlan

/// One launch of `ferry run` in the history.
package struct RunRow: Hashable, Sendable {
  /// The raw values are persisted and must never be reused.
  package enum State: UInt8, Sendable {
    case running = 1
    case ended = 2
    /// The process ended without recording the end; the next run detected this.
    case interrupted = 3
  }

  package struct Round: Hashable, Sendable {
    package var manifest: String
    package var number: Int64
    /// See `RoundRow.pass`. It is stored in the row of the round.
    package var pass: String?

    package init(manifest: String, number: Int64, pass: String? = nil) {
      self.manifest = manifest
      self.number = number
      self.pass = pass
    }
  }

  package var id: String
  package var launch: LaunchKind
  /// The rounds that the run executed, one for each manifest.
  package var rounds: [Round]
  package var process: ProcessIdentity
  package var startedAt: Instant
  package var state: State
  package var endedAt: Instant?
  package var exitCode: Int32?
  /// The path of the run's report.
  package var report: String?
  /// The part of a divided manifest, as in `--shard`; `nil` for a manifest that is not divided.
  package var part: String?

  package init(
    id: String, launch: LaunchKind, rounds: [Round], process: ProcessIdentity = .current, startedAt: Instant,
    state: State = .running, endedAt: Instant? = nil, exitCode: Int32? = nil, report: String? = nil,
    part: String? = nil
  ) {
    self.id = id
    self.launch = launch
    self.rounds = rounds
    self.process = process
    self.startedAt = startedAt
    self.state = state
    self.endedAt = endedAt
    self.exitCode = exitCode
    self.report = report
    self.part = part
  }
}
