import FerryManifest

/// The report of a run. Its encoded form is `report.json` (docs/report.md).
package struct RunRecord: Codable, Sendable {
  /// The version of this format.
  package var version = 1
  package var run: Run
  package var totals: Totals
  package var nodes: [NodeRecord]
  /// All items except those that succeeded without failures. A report that lists every item reads the others from its
  /// `ReportSource`.
  package var items: [ItemRecord]
  /// The progress of the run over time; absent in reports of earlier versions.
  package var timeline: RunTimeline?
  /// The comparison of the plan with the run; absent if the run did not run a plan.
  package var plan: PlanComparison?

  package init(run: Run, totals: Totals, nodes: [NodeRecord], items: [ItemRecord]) {
    self.run = run
    self.totals = totals
    self.nodes = nodes
    self.items = items
  }

  package struct Run: Codable, Sendable {
    package var id: String
    /// The values of the only manifest, in this key and the next four; `nil` if there is more than one
    /// manifest.
    package var manifest: String?
    package var path: String?
    package var sha256: String?
    package var round: Int64?
    package var roundClosed: Bool?
    /// The manifests, in the order given; `nil` in reports written before a run could include several.
    package var manifests: [Manifest]?
    package var launch: LaunchKind
    package var startedAt: String
    package var endedAt: String
    package var exitCode: Int32
    package var state: RunState
    /// The reason why the run stopped early, if it did.
    package var stop: StopCause?
    /// The earliest time at which work that waits for a budget or a delay may continue.
    package var deferredUntil: String?
    /// The use of the budgets before and after the run.
    package var budgets: [BudgetRecord]?
    /// The resume delays of sessions.
    package var delays: [DelayRecord]?
    /// The machine's conditions at the end; absent if the process was terminated.
    package var conditions: DeviceConditions?
    /// Work that cannot continue because the manifest was edited; absent if there is none.
    package var edits: [EditEffect]?
    /// The internal error in ferry that ended the run, if there was one.
    package var fault: String?
    /// Each attempt to start a command of `on_events`; absent if there are none.
    package var onEvents: [CommandRecord]?
    /// Each attempt to start the command of `on_expiry`; absent if there are none.
    package var onExpiry: [CommandRecord]?
    /// The requests of `on_end`; absent if there are none.
    package var onEnd: [OnEndRecord]?
    /// The items that the report lists; absent in reports of earlier versions.
    package var listedItems: ReportSettings.Items?
    /// The part of a divided manifest that the run executed, as in `--shard`; absent otherwise.
    package var shard: String?
    /// Identifies the pass that `setup` began: the reports of all parts in the pass have the same value. Absent if the
    /// run does not belong to a pass.
    package var pass: String?
    /// The number of times that the workflow engine has restarted the task (`SLURM_RESTART_COUNT`); absent if
    /// the variable is not set.
    package var restarts: Int?
    /// In a report that was merged from those of shards: the parts. The work that runs once comes before the
    /// shards.
    package var shards: [ShardRecord]?

    package init(
      id: String, manifests: [Manifest], launch: LaunchKind, startedAt: String, endedAt: String,
      exitCode: Int32,
      state: RunState, stop: StopCause? = nil, deferredUntil: String? = nil,
      conditions: DeviceConditions? = nil,
      fault: String? = nil
    ) {
      self.id = id
      self.manifests = manifests
      if let only = manifests.first, manifests.count == 1 {
        manifest = only.name
        path = only.path
        sha256 = only.sha256
        round = only.round
        roundClosed = only.roundClosed
      }
      self.launch = launch
      self.startedAt = startedAt
      self.endedAt = endedAt
      self.exitCode = exitCode
      self.state = state
      self.stop = stop
      self.deferredUntil = deferredUntil
      self.conditions = conditions
      self.fault = fault
    }
  }

  /// One of the run's manifests.
  package struct Manifest: Codable, Sendable {
    package var name: String
    /// The path as given.
    package var path: String
    /// The digest of the manifest's text, in lowercase hexadecimal.
    package var sha256: String
    package var round: Int64
    package var roundClosed: Bool

    package init(name: String, path: String, sha256: String, round: Int64, roundClosed: Bool) {
      self.name = name
      self.path = path
      self.sha256 = sha256
      self.round = round
      self.roundClosed = roundClosed
    }
  }

  /// One part of a merged report.
  package struct ShardRecord: Codable, Sendable {
    /// The part, as in `--shard`.
    package var part: String
    package var state: State
    /// The last run in the round, and its values, even if it has no report; absent if there was no run.
    package var run: String?
    package var startedAt: String?
    package var endedAt: String?
    package var exitCode: Int32?
    package var restarts: Int?
    /// The number of runs in the round that have a report.
    package var runs: Int
    /// The items of the round so far, according to the last report.
    package var items: ItemCounts?

    package enum State: String, Codable, Sendable {
      case ended, interrupted, running
      /// The last run has not ended, and its process is not on this machine; another machine may be running it.
      case runningElsewhere = "running_elsewhere"
      /// There is no run in the round, or the last one ended without a report.
      case missing
    }

    package init(part: String, state: State, runs: Int) {
      self.part = part
      self.state = state
      self.runs = runs
    }
  }

  /// The usage of a budget by all processes of the user, in the window in which the run began.
  package struct BudgetRecord: Codable, Sendable {
    /// The kind of network, or `any` for all networks together.
    package var network: Budget.Scope
    package var windowStart: String
    package var windowEnd: String
    package var limitBytes: Int64
    package var usedBytesBefore: Int64
    package var usedBytesAfter: Int64

    package init(
      _ budget: (network: Budget.Scope, budget: Budget), window: Range<Instant>, before: Int64,
      after: Int64
    ) {
      network = budget.network
      windowStart = window.lowerBound.rfc3339
      windowEnd = window.upperBound.rfc3339
      limitBytes = budget.budget.limit
      usedBytesBefore = before
      usedBytesAfter = after
    }
  }

  /// One attempt to start a command of `on_events` or `on_expiry`.
  package struct CommandRecord: Codable, Sendable {
    /// The session's name; absent for `on_expiry`.
    package var session: String?
    /// The first word of the command.
    package var command: String
    /// The time of the start; absent if the start failed, and in reports written before ferry recorded it.
    package var startedAt: String?
    package var exitStatus: Int32?
    /// The signal that ended the command.
    package var signal: Int32?
    /// Whether the command was still running when the run stopped waiting for it.
    package var isRunning: Bool?
    /// The reason why the command could not be started. The next run retries `on_events`.
    package var problem: String?

    package init(session: String?, command: String) {
      self.session = session
      self.command = command
    }
  }

  /// A request of `on_end`.
  package struct OnEndRecord: Codable, Sendable {
    /// The name of the manifest; absent if the run has only one.
    package var manifest: String?
    package var name: String
    /// `succeeded`, `failed`, `ambiguous` if it may have been sent, or `skipped` because of its `when`.
    package var state: ReportState
    package var required: Bool
    package var reason: RecordedFailure?
    package var attempts: [AttemptRecord]

    package init(
      manifest: String?, name: String, state: ReportState, required: Bool, reason: RecordedFailure? = nil,
      attempts: [AttemptRecord] = []
    ) {
      self.manifest = manifest
      self.name = name
      self.state = state
      self.required = required
      self.reason = reason
      self.attempts = attempts
    }

    /// Whether the request was to be sent, and is not known to have succeeded.
    package var isFailure: Bool { state != .succeeded && state != .skipped }
  }

  /// The resume delay of a session.
  package struct DelayRecord: Codable, Sendable {
    package var session: String
    package var periodSeconds: Double
    /// The time at which the delay ends or ended.
    package var endsAt: String
  }

  package struct Totals: Codable, Sendable {
    /// The items of the round so far.
    package var items = ItemCounts()
    /// The number of items that succeeded in this run.
    package var itemsDoneInRun = 0
    package var bytes = Bytes()
    package var requests = 0
    package var tokensFetched = 0
    package var tokenRefreshes = 0
    package var idsAllocated = 0
    package var idsExpired = 0
    /// The number of upload IDs that became orphans in this run; absent in reports written before ferry
    /// recorded orphans.
    package var idsOrphaned: Int? = 0
    /// The number of upload IDs that this run released, including IDs that earlier runs allocated; absent in
    /// reports written before ferry recorded orphans.
    package var idsReleased: Int? = 0
    package var resumes = 0

    package init() {}
  }

  package struct Bytes: Codable, Sendable {
    /// File bytes in steps that succeeded, except those in `resent`.
    package var useful: Int64 = 0
    /// File bytes sent in steps that did not succeed, or that succeeded and whose upload then had to start over.
    package var resent: Int64 = 0
    /// All other bytes that belong to a request: header fields, small requests, responses.
    package var overhead: Int64 = 0
    /// The bytes that the sockets carried and that belong to no request: TLS, HTTP/2 frames, the chunked coding,
    /// tunnels through proxies, requests that libcurl resent, retransmissions by TCP. Negative if the compression of
    /// header fields or content saved more bytes than these added. Like the next two properties, absent if the system
    /// does not count the bytes of sockets.
    package var unattributed: Int64?
    /// The bytes that the sockets carried in each direction; their sum is the sum of the four other counts.
    package var sent: Int64?
    package var received: Int64?

    /// Adds the bytes that the sockets carried.
    package mutating func carried(sent: Int64, received: Int64) {
      self.sent = sent
      self.received = received
      unattributed = sent +| received -| useful -| resent -| overhead
    }

    package init() {}
  }
}
