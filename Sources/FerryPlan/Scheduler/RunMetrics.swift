/// Counters and notes for the report, which the scheduler updates during a launch.
package struct RunMetrics: Sendable {
  package private(set) var requests = 0
  package var tokensFetched = 0
  package var tokenRefreshes = 0
  package var idsAllocated = 0
  package var idsExpired = 0
  /// Upload IDs released in this launch, including IDs dropped in earlier launches.
  package var idsReleased = 0
  /// The number of resumes at which completed background work was handled.
  package var resumes = 0
  /// The number of items that succeeded in this launch.
  package private(set) var itemsDone = 0
  package var traffic = Traffic()
  /// File bytes transferred by successful steps, in either direction, except those in `resentBytes`.
  package private(set) var usefulBytes: Int64 = 0
  /// File bytes sent by steps that failed, or that succeeded and whose upload then had to start over.
  package private(set) var resentBytes: Int64 = 0
  /// The work for each node, up to the last node that had any. `requests`, `itemsDone` and `usefulBytes` are
  /// the sums over these nodes.
  package private(set) var work: [NodeWork] = []
  /// The causes of the exit code other than failed items, by manifest: `authorization` and `integrity`;
  /// `temporary` if work remains because retries were exhausted; `cutOff` if the launch's deadline passed or
  /// its execution window ended; `deferred` if work waits for conditions to change, a budget or a delay.
  package var codes: [ManifestID: Set<ExitCode>] = [:]
  /// The earliest time at which deferred work may continue, if known.
  package var deferredUntil: Instant?
  package var stop: StopCause?
  var details = FailureDetails()
  /// Items that did not succeed at the first attempt.
  package var notes: [ItemNote] = []
  package var nodeFailures: [NodeID: [AttemptFailure]] = [:]
  /// The downloads that were to use several connections but used only one, by node.
  private(set) var singleConnections: [NodeID: RunRecord.SingleConnectionRecord] = [:]

  /// Counts an attempt that has just ended.
  ///
  /// - Parameters:
  ///   - fileSize: the size of the file that the attempt sends, in bytes.
  ///   - isPart: whether the attempt sends a part of the file. `countPart` counts the bytes of parts.
  mutating func count(
    _ step: Step.Kind, _ result: AttemptResult, _ verdict: Verdict, fileSize: Int64, isPart: Bool,
    of node: NodeID, at now: Instant
  ) {
    requests += 1
    change(node) { $0.count(endedAt: now, duration: result.duration) }
    traffic += result.traffic
    let isGood = verdict == .succeeded || verdict == .unchanged
    switch step.traits.content {
    case .sent where isPart: break
    case .sent:
      // After a redirect, the body is sent again.
      let useful = isGood ? min(result.traffic.bodySent, fileSize) : 0
      add(useful: useful, to: node)
      resentBytes +|= result.traffic.bodySent - useful
    case .received: if isGood { add(useful: result.traffic.bodyReceived, to: node) }
    case nil: break
    }
  }

  /// Counts a stored document that was to be received over several connections.
  mutating func count(_ segments: SegmentUse, of node: NodeID) {
    guard case .single(let reason) = segments else { return }
    let count = singleConnections[node]?.downloads ?? 0
    singleConnections[node] = .init(downloads: count + 1, reason: reason)
  }

  /// Counts the bytes of one of several requests of a transfer.
  ///
  /// - Parameters:
  ///   - sent: the number of the file's bytes that the request sent.
  ///   - useful: the number of bytes that the response has confirmed, including bytes of earlier requests of
  ///     the launch that had been counted as resent.
  mutating func countPart(sent: Int64, useful: Int64, of node: NodeID) {
    add(useful: useful, to: node)
    resentBytes = resentBytes +| sent - useful
  }

  /// Counts the bytes of a download whose attempt has failed.
  ///
  /// - Parameters:
  ///   - kept: the number of bytes that the next attempt does not request again.
  ///   - dropped: the number of bytes that were counted as kept, but are requested again.
  mutating func countPart(kept: Int64, dropped: Int64, of node: NodeID) {
    add(useful: kept -| dropped, to: node)
  }

  /// Records that an upload has to start over after its transfer succeeded.
  ///
  /// - Parameter bytes: the number of bytes that the transfer sent.
  mutating func startsOver(_ bytes: Int64, of node: NodeID) {
    add(useful: -bytes, to: node)
    resentBytes +|= bytes
  }

  /// Counts an item that succeeded.
  mutating func countItem(of node: NodeID) {
    itemsDone += 1
    change(node) { $0.itemsDone += 1 }
  }

  /// The number of the node's items that succeeded in this launch.
  func itemsDone(of node: NodeID) -> Int { node.index < work.count ? work[node.index].itemsDone : 0 }

  private mutating func add(useful bytes: Int64, to node: NodeID) {
    usefulBytes +|= bytes
    change(node) { $0.usefulBytes +|= bytes }
  }

  private mutating func change(_ node: NodeID, _ body: (inout NodeWork) -> Void) {
    while work.count <= node.index { work.append(NodeWork()) }
    body(&work[node.index])
  }
}

/// An item that did not succeed at the first attempt: its outcome, and the failures before it.
package struct ItemNote: Sendable {
  package var ref: ItemRef
  /// The outcome; `queued` if the item remains for a later launch.
  package var state: ItemState
  package var failure: RecordedFailure?
  package var attemptFailures: [AttemptFailure]
  /// The work of this launch on the item; `nil` if the launch did not begin the item.
  package var span: ItemSpan?
}
