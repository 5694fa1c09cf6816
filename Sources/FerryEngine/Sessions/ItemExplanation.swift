import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// `ferry explain ITEM`: the state of an item or a node, and why it is waiting.
package struct ItemExplanation {
  private let job: Job
  private let state: StateDirectory
  private let options: RunPreview.Options
  private let environment: [String: String]

  package init(
    _ job: Job, state: String?, network: Conditions.Network?, power: Conditions.Power?,
    launch: LaunchKind, at moment: Instant, environment: [String: String]
  ) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.job = try job.divided(in: self.state)
    var options = RunPreview.Options()
    options.network = network
    options.power = power
    options.launch = launch
    options.moment = moment
    self.options = options
    self.environment = environment
  }

  /// Explains the state of each item or node to which a name refers.
  ///
  /// - Parameter item: the path of an upload's item relative to the upload's root, the path of its file,
  ///   `NODE/PATH`, or a node's name.
  /// - Throws: `UsageError` if the name matches nothing.
  package func explain(_ item: String) throws -> ItemDocument {
    let history = try RunHistory.openForReading(in: state)
    // The history was only read, so closing it cannot lose data.
    defer { try? history.close() }
    let report = try lastReport(history)
    return try RunPreview.take(job, options, in: state, environment: environment) { preview in
      var document = ItemDocument(
        item: item, manifest: job.plan.manifest, path: job.path, round: preview.round, matches: [])
      for (index, node) in job.plan.nodes.enumerated() where node.kind != .token {
        let isNode = node.name == item || node.name.hasPrefix(item + "[")
        if isNode {
          document.matches.append(try self.node(index, preview, report))
          continue
        }
        guard node.kind.hasItems else { continue }
        for path in try job.candidates(item, node, home: environment["HOME"]).compactMap(\.self) {
          guard let match = try self.item(path, index, preview, report) else { continue }
          document.matches.append(match)
          break
        }
      }
      guard !document.matches.isEmpty else { throw unknown(item) }
      let interrupted = try history.interrupted(job.plan.manifest, in: state)
      for index in document.matches.indices {
        try tellHolder(of: &document.matches[index])
        if document.matches[index].next == .begins || document.matches[index].next == .waits {
          document.matches[index].interruptedRun = interrupted
        }
      }
      return document
    }
  }

  /// If a process holds the session, adds that process to the match, because the state also depends on the process and
  /// on the files that it has listed.
  private func tellHolder(of match: inout ItemDocument.Match) throws {
    guard match.next == .begins || match.next == .waits,
      let holder = try SessionLock.holder(session: match.session, in: state)
    else { return }
    (match.next, match.reason, match.pid) = (.running, nil, holder.pid)
  }

  private func unknown(_ item: String) -> UsageError {
    let names = job.plan.nodes.filter { $0.kind != .token }.map(\.name)
    return UsageError(
      "\(job.plan.manifest) has no item '\(DisplayPath.shown(item))': no upload or download batch lists this file or has it in a journal\n"
        + "help: specify a path relative to an upload's root or the manifest's folder, NODE/PATH, or a node: \(names.joined(separator: ", "))"
    )
  }

  private func node(
    _ index: Int, _ preview: RunPreview, _ report: ReportSource?
  ) throws(JournalError) -> ItemDocument.Match {
    let node = job.plan.nodes[index]
    var match = match(node, state: .run)
    match.lastRun = report?.record.run.id
    match.attempts =
      report?.record.nodes.first { $0.name == node.name && $0.kind == node.kind }?.attempts ?? []
    if let row = preview.launchState.rows[index] {
      match.round = row.round > 0 ? row.round : nil
      match.reason = row.round == preview.round ? row.failure : nil
      if row.state == .done { match.deliveredAt = row.closedAt?.rfc3339 }
      if row.state == .ambiguous, !row.kind.hasItems {
        match.ambiguity = ambiguities(of: row, node).ambiguity
      }
    }
    switch preview.launchState.starts[index] {
    case .notSelected, .submissions, .open: break
    case .closed(let outcome, let failure):
      match.state = failure?.isCancellation == true ? .cancelled : ReportState(outcome)
      match.next = .nothing
    case .intended: (match.state, match.next) = (.ambiguous, .ends)
    case .notDue(let until, let failed):
      (match.state, match.next, match.notBefore) = (.notDue, .nothing, until.rfc3339)
      match.reason = failed?.reason
    case .switchedOff: (match.state, match.next) = (.never, .nothing)
    case .stored: (match.state, match.next) = (.stored, .nothing)
    case .notStored: (match.state, match.next, match.reason) = (.failed, .nothing, .notStored)
    case .left(let reason), .skipped(_, let reason): match.reason = reason
    case .upload(let table, _):
      match.toSend = table.count
      match.items = try items(index, preview)
      if table.count == 0 { match.next = .nothing }
    }
    guard match.next == .waits else { return match }
    if let reason = preview.look.reasons[index] {
      match.reason = reason
    } else {
      stand(&match, preview.look.disposition(of: ItemRef(NodeID(index))))
      if preview.look.starts.contains(where: { $0.ref.node.index == index }) {
        (match.next, match.reason) = (.begins, nil)
      }
    }
    return match
  }

  /// The items of an upload in the journal; `nil` if there are none.
  private func items(_ index: Int, _ preview: RunPreview) throws(JournalError) -> StatusDocument.Items? {
    let session = job.plan.nodes[index].session.index
    guard let row = preview.launchState.rows[index], row.id != 0, let journal = preview.journals.all[session]
    else { return nil }
    let counts = try journal.countsByRound().filter { $0.node == row.id }
    return counts.isEmpty ? nil : StatusDocument.Items(counts, round: preview.round)
  }

  private func item(
    _ path: [UInt8], _ index: Int, _ preview: RunPreview, _ report: ReportSource?
  ) throws -> ItemDocument.Match? {
    guard case .upload(let table, _) = preview.launchState.starts[index] else { return nil }
    let node = job.plan.nodes[index]
    let place = (0..<table.count).first { table.files.path($0).elementsEqual(path) }
    var match = match(node, state: .new)
    match.path = String(decoding: path, as: UTF8.self)
    match.pathBase64 = DisplayPath.base64(path)
    var isKnown = false
    if let row = preview.launchState.rows[index], row.id != 0 {
      let journal = preview.journals.all[node.session.index]
      var begun: Int64?
      try journal?.item(node: row.id, path: path) { item in
        isKnown = true
        try describe(item, of: node, row, &match)
        if try item.state == .allocated { begun = item.id }
      }
      if let begun, let bytes = try journal?.confirmedBytes(row: begun) {
        match.transfer = transfer(of: node, size: match.size ?? 0, confirmed: bytes)
      }
    }
    guard isKnown || place != nil else { return nil }
    if let place {
      match.size = table.files.sizes[place]
      stand(&match, preview.look.disposition(of: ItemRef(NodeID(index), place)))
    } else {
      match.next = .nothing
    }
    match.lastRun = report?.record.run.id
    if match.after?.owed != nil {
      let problem = problem(of: match, in: report)
      match.after?.reason = problem
    }
    var attempts: [RunRecord.AttemptRecord]?
    try report?.eachItem { item in
      // The report of a single manifest does not repeat the manifest's name.
      guard attempts == nil, item.node == node.name, item.path == match.path,
        item.manifest ?? job.plan.manifest == job.plan.manifest
      else { return }
      attempts = item.attempts
    }
    match.attempts = attempts ?? []
    return match
  }

  /// The reason why the last run did not delete or move a delivered file.
  private func problem(of match: ItemDocument.Match, in report: ReportSource?) -> RecordedFailure? {
    let node = report?.record.nodes.first {
      $0.name == match.node && $0.kind.hasItems
        && $0.manifest ?? job.plan.manifest == job.plan.manifest
    }
    let problem = node?.after?.problems.first {
      $0.isOwed && $0.path == match.path && $0.pathBase64 == match.pathBase64
    }
    return problem.map { RecordedFailure(code: $0.code, message: $0.message) }
  }

  private func describe(
    _ item: borrowing ItemRow, of node: Node, _ row: NodeRow, _ match: inout ItemDocument.Match
  ) throws {
    let state = try item.state
    match.state = ReportState(state)
    match.size = item.size
    match.round = item.round
    match.handedOverAt = item.handedOver.rfc3339
    if state == .done { match.deliveredAt = item.closedAt?.rfc3339 }
    if state == .ambiguous {
      match.ambiguity = ambiguities(of: row, node).ambiguity(of: try SessionJournal.ambiguous(item))
    }
    match.reason = item.failure
    if state == .cancelled { match.cancellation = item.failure }
    if let after = try item.after {
      match.after = .init(
        state: after.word, owed: after == .owed ? node.after.planned ?? "keep" : nil)
    }
    if try !state.isClosed && state != .queued && !item.captures.isEmpty {
      match.uploadId = .init(expiresAt: item.expires?.rfc3339)
    }
  }

  /// The state of a transfer that takes several requests; `nil` for any other transfer.
  private func transfer(of node: Node, size: Int64, confirmed: Int64) -> ItemDocument.Transfer? {
    guard case .upload(let work) = node.work, let machine = work.transferProtocol.machine,
      let name = work.transferProtocol.name, (0...size).contains(confirmed)
    else { return nil }
    let requests = machine.requestCount(size: size)
    let longest = max(machine.longestRequest(size: size), 1)
    let remaining = (size - confirmed) / longest + ((size - confirmed) % longest > 0 ? 1 : 0)
    return .init(
      protocol: name, confirmedBytes: confirmed, requests: requests,
      remainingRequests: min(remaining, requests))
  }

  private func ambiguities(of row: NodeRow, _ node: Node) -> AmbiguityFinder {
    AmbiguityFinder(
      session: job.plan.sessions[node.session.index].identifier, state: state, row: row, node: node)
  }

  private func match(_ node: Node, state: ReportState) -> ItemDocument.Match {
    .init(
      node: node.name, kind: node.kind, session: job.plan.sessions[node.session.index].identifier,
      state: state, next: .waits)
  }

  private func stand(_ match: inout ItemDocument.Match, _ disposition: ItemDisposition) {
    switch disposition {
    case .begins: (match.next, match.reason) = (.begins, nil)
    case .waits(let reason): (match.next, match.reason) = (.waits, reason)
    case .ends(_, let reason): (match.next, match.reason) = (.ends, reason)
    case .closed: match.next = .nothing
    }
  }

  /// The most recent report of a run of this manifest; `nil` if there is none.
  private func lastReport(_ history: RunHistory) throws -> ReportSource? {
    for run in try history.runs() where run.rounds.contains(where: { $0.manifest == job.plan.manifest }) {
      // A run that is in progress, or that was killed and not resumed, does not have a report.
      guard let report = try StoredReport.source(ofRun: run.id, in: state) else { continue }
      return report
    }
    return nil
  }
}
