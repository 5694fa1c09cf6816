import FerryManifest

/// The work of a future run, as printed by `ferry plan`.
package struct PlanDocument: Codable, Sendable {
  /// The version of this format.
  package var version = 1
  package var manifest: String
  package var path: String
  package var round: Int64
  /// Whether an earlier run opened the round.
  package var continuesRound: Bool
  package var launch: LaunchKind
  /// The time for which the plan is made.
  package var at: String
  /// The machine's conditions.
  package var conditions: DeviceConditions
  package var budgets: [BudgetUse]
  package var sessions: [SessionEntry]
  /// The nodes, in a possible start order.
  package var nodes: [NodeEntry]
  /// The requests that are sent when the run ends; absent if there are none.
  package var onEnd: [OnEndEntry]?
  /// Errors that can be found only by examining the files.
  package var errors: [DiagnosticRecord]
  /// Probable mistakes in the manifest, as reported by `ferry check`, and mistakes that can be
  /// found only by examining the files and the history.
  package var warnings: [DiagnosticRecord]

  /// Whether the run would have something to do, now or after a wait.
  package var hasWork: Bool {
    nodes.contains { node in
      switch node.state {
      case .run, .waiting:
        guard let items = node.items else { return node.kind != .token }
        return items.toSend > 0 || items.owedAfter != nil || items.orphans != nil
      case .succeeded, .failed, .ambiguous, .skipped, .notSelected, .notNeeded, .cancelled, .done, .queued,
        .allocated, .transferred, .new, .ask, .notDue, .never, .stored:
        return false
      }
    }
  }

  package struct SessionEntry: Codable, Sendable {
    package var name: String
    package var kind: Session.Kind
    package var identifier: String
    package var maxConnectionsPerHost: Int
  }

  package struct NodeEntry: Codable, Sendable {
    package var name: String
    package var kind: Node.Kind
    /// `received` for a download batch; otherwise absent.
    package var direction: Node.Direction?
    package var session: String
    package var token: String?
    /// The names of the nodes for which the node waits.
    package var needs: [String]
    package var steps: [StepEntry]
    /// `run`; `waiting` (see `reason`); `done`, `failed`, `cancelled` or `skipped` if the node has ended in
    /// this round (the last three with a reason); `ambiguous` if its request may have been executed;
    /// `not_due`; `never`; `stored` if `cache_policy` uses the stored document; `failed` if it does not allow
    /// a request although no document is stored; `not_selected`; `ask` for tokens, which are fetched when
    /// needed.
    package var state: ReportState
    package var notBefore: String?
    /// The reason why the node would wait under these conditions.
    package var reason: RecordedFailure?
    /// For an upload: the counts of its items; absent if its list is known only at run time.
    package var items: Items?
    /// `true` if a fetch that the upload needs writes its list, which is then read when the upload opens;
    /// otherwise absent.
    package var listedAtRunTime: Bool?
    /// The treatment of the node's files after delivery: `delete`, or `move_to` and the folder; absent for
    /// `keep`.
    package var after: String?
    package var problems: [String]
    /// The number of further problems; absent if there are none.
    package var problemsOmitted: Int?
  }

  package struct StepEntry: Codable, Sendable {
    package var step: Step.Kind
    package var session: String
    package var method: String
    /// The URL with unresolved references and masked credentials.
    package var url: String
    package var repeatability: Step.Repeatability
    /// The protocol of a transfer that does not send the file alone in one request: `multipart_form`,
    /// `content_range`, `tus`, `resumable` or `s3_multipart`; otherwise absent.
    package var `protocol`: Upload.Transfer.`Protocol`?
  }

  /// A request of `on_end`.
  package struct OnEndEntry: Codable, Sendable {
    package var name: String
    package var session: String
    package var token: String?
    package var when: SingleRequest.When
    package var required: Bool
    package var graceSeconds: Double
    package var method: String
    /// The URL with unresolved references and masked credentials.
    package var url: String

    init(_ declared: OnEndRequest) {
      name = declared.request.name.value
      session = declared.request.session.value
      token = declared.request.token?.value
      when = declared.request.when
      required = declared.isRequired
      graceSeconds = declared.grace.seconds
      method = declared.request.request.method
      url = Userinfo.masked(in: declared.request.request.url.description)
    }
  }

  package struct Items: Codable, Sendable {
    /// The number of items to send, including items that an earlier run began.
    package var toSend: Int
    package var bytesToSend: Int64
    /// For a download batch: the number of items to download whose size the list does not contain; absent if there are
    /// none.
    package var unknownSizes: Int?
    /// The number of requests that send the `bytesToSend` if nothing interrupts the transfers; absent if the
    /// protocol always sends a file in one request.
    package var parts: Int64?
    /// The number of items to send that an earlier run began.
    package var begun: Int
    package var unchanged: Int
    package var doneInRound: Int
    package var failedInRound: Int
    package var ambiguous: Int
    /// The number of batches into which `batch` divides the items to send.
    package var batches: Int
    /// Delivered items that still have to be deleted or moved, because an earlier run failed to do so or was
    /// killed; absent if there are none.
    package var owedAfter: Int?
    /// Unused upload IDs of earlier runs that the run would release; absent if there are none.
    package var orphans: Int?
  }

  package init(
    _ plan: Plan, path: String, round: Int64, continuesRound: Bool, launch: LaunchKind, at moment: Instant,
    starts: [NodeStart], conditions: DeviceConditions, budgets: [BudgetUse] = [],
    reasons: [Int: RecordedFailure] = [:], orphans: [NodeID: Int] = [:], problems: [Int: [String]],
    problemsOmitted: [Int: Int] = [:], onEnd: [OnEndRequest] = [],
    listsLater: Set<Int> = [], diagnostics: [Diagnostic] = []
  ) {
    self.onEnd = onEnd.isEmpty ? nil : onEnd.map(OnEndEntry.init)
    manifest = plan.manifest
    self.path = path
    self.round = round
    self.continuesRound = continuesRound
    self.launch = launch
    at = moment.rfc3339
    self.conditions = conditions
    self.budgets = budgets
    errors = diagnostics.filter { $0.severity == .error }.map(DiagnosticRecord.init)
    warnings = diagnostics.filter { $0.severity == .warning }.map(DiagnosticRecord.init)
    sessions = plan.sessions.map {
      SessionEntry(
        name: $0.name, kind: $0.kind, identifier: $0.identifier,
        maxConnectionsPerHost: $0.maxConnectionsPerHost)
    }
    nodes = plan.nodes.enumerated().map { index, node in
      var entry = NodeEntry(
        name: node.name, kind: node.kind,
        direction: node.kind == .download ? node.kind.direction : nil,
        session: plan.sessions[node.session.index].name,
        token: node.steps.lazy.compactMap(\.token).first.map { plan.nodes[$0.index].name },
        needs: node.needs.map { plan.nodes[$0.index].name },
        steps: node.steps.map {
          StepEntry(
            step: $0.kind, session: plan.sessions[$0.session.index].name, method: $0.request.method,
            url: Userinfo.masked(in: $0.request.url.description), repeatability: $0.repeatability,
            protocol: node.plannedProtocol(of: $0))
        },
        state: node.kind == .token ? .ask : .run, problems: problems[index] ?? [])
      switch starts[index] {
      case .notSelected, .submissions: entry.state = .notSelected
      case .open: break
      case .closed(let outcome, let failure):
        (entry.state, entry.reason) = (outcome.planned(failure), failure)
      case .intended: entry.state = .ambiguous
      case .notDue(let until, let failed):
        entry.state = .notDue
        entry.notBefore = until.rfc3339
        entry.reason = failed?.reason
      case .switchedOff: entry.state = .never
      case .stored: entry.state = .stored
      case .notStored: (entry.state, entry.reason) = (.failed, .notStored)
      case .left(let reason), .skipped(_, let reason):
        entry.state = .waiting
        entry.reason = reason
      case .upload(let table, let settled):
        if listsLater.contains(index) { entry.listedAtRunTime = true }
        guard case .upload(let work) = node.work, !listsLater.contains(index) || table.count > 0 else {
          break
        }
        entry.items = Items(table, settled, work.batch)
        entry.items?.orphans = orphans[NodeID(index)]
        if node.kind == .download {
          let unknown = table.files.unknownSizes
          entry.items?.unknownSizes = unknown > 0 ? unknown : nil
        }
        if let machine = work.transferProtocol.machine {
          entry.items?.parts = table.files.sizes.reduce(0) { $0 +| machine.requestCount(size: $1) }
        }
      }
      entry.after = node.after.planned
      entry.problemsOmitted = problemsOmitted[index]
      if entry.state == .run, let reason = reasons[index] {
        entry.state = .waiting
        entry.reason = reason
      }
      return entry
    }
  }
}

extension Node {
  /// The protocol of a step, as plan documents show it.
  fileprivate func plannedProtocol(of step: Step) -> Upload.Transfer.`Protocol`? {
    guard step.kind == .transfer, case .upload(let work) = work else { return nil }
    return step.request.body.protocol ?? work.transferProtocol.name
  }
}

extension NodeOutcome {
  /// The state of a node that has ended in the round.
  fileprivate func planned(_ failure: RecordedFailure?) -> ReportState {
    switch self {
    case .succeeded: .done
    case .skipped where failure?.isCancellation == true: .cancelled
    case .failed, .ambiguous, .skipped: ReportState(self)
    }
  }
}

extension PlanDocument.Items {
  init(_ table: ItemTable, _ settled: Reconciliation.Settled, _ batch: Upload.Batch) {
    toSend = table.count
    bytesToSend = table.files.sizes.reduce(0, +|)
    begun = table.begun.count
    unchanged = settled.delivered - settled.doneInRound
    doneInRound = settled.doneInRound
    failedInRound = settled.failedInRound
    ambiguous = settled.ambiguous
    owedAfter = settled.owedAfter > 0 ? settled.owedAfter : nil
    batches = 0
    var start = 0
    while start < table.count {
      start = batch.end(from: start, sizes: table.files.sizes)
      batches += 1
    }
  }
}

extension Upload.After {
  /// The text used in documents; `nil` for `keep`.
  package var planned: String? {
    switch self {
    case .keep: nil
    case .delete: "delete"
    case .moveTo(let folder): "move_to \(folder)"
    }
  }
}
