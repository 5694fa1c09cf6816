/// Counters and notes for the report, which the scheduler updates during a launch.
package struct RunMetrics: Sendable {
  package var requests = 0
  package var tokensFetched = 0
  package var tokenRefreshes = 0
  package var idsAllocated = 0
  package var idsExpired = 0
  /// Upload IDs released in this launch, including IDs dropped in earlier launches.
  package var idsReleased = 0
  /// The number of resumes at which completed background work was handled.
  package var resumes = 0
  /// The number of items that succeeded in this launch.
  package var itemsDone = 0
  package var traffic = Traffic()
  /// File bytes transferred by successful steps, in either direction, except those in `resentBytes`.
  package var usefulBytes: Int64 = 0
  /// File bytes sent by steps that failed, or that succeeded and whose upload then had to start over.
  package var resentBytes: Int64 = 0
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

  /// Counts an attempt.
  ///
  /// - Parameters:
  ///   - fileSize: the size of the file that the attempt sends, in bytes.
  ///   - isPart: whether it sends a part of the file, whose bytes `countPart` counts.
  mutating func count(
    _ step: Step.Kind, _ result: AttemptResult, _ verdict: Verdict, fileSize: Int64, isPart: Bool
  ) {
    requests += 1
    traffic += result.traffic
    let isGood = verdict == .succeeded || verdict == .unchanged
    switch step.traits.content {
    case .sent where isPart: break
    case .sent:
      // After a redirect, the body is sent again.
      let useful = isGood ? min(result.traffic.bodySent, fileSize) : 0
      usefulBytes +|= useful
      resentBytes +|= result.traffic.bodySent - useful
    case .received: if isGood { usefulBytes +|= result.traffic.bodyReceived }
    case nil: break
    }
  }

  /// Counts the bytes of one of several requests of a transfer.
  ///
  /// - Parameters:
  ///   - sent: the number of the file's bytes that the request sent.
  ///   - useful: the number of bytes that the response has confirmed, including bytes of earlier requests of
  ///     the launch that had been counted as resent.
  mutating func countPart(sent: Int64, useful: Int64) {
    usefulBytes +|= useful
    resentBytes = resentBytes +| sent - useful
  }

  /// Counts the bytes of a download whose attempt has failed.
  ///
  /// - Parameters:
  ///   - kept: the number of bytes that the next attempt does not request again.
  ///   - dropped: the number of bytes that were counted as kept, but are requested again.
  mutating func countPart(kept: Int64, dropped: Int64) { usefulBytes = usefulBytes +| kept -| dropped }

  /// Records that an upload has to start over after its transfer succeeded.
  ///
  /// - Parameter bytes: the number of bytes that the transfer sent.
  mutating func startsOver(_ bytes: Int64) {
    usefulBytes -= bytes
    resentBytes +|= bytes
  }
}

/// An item that did not succeed at the first attempt: its outcome, and the failures before it.
package struct ItemNote: Sendable {
  package var ref: ItemRef
  /// The outcome; `queued` if the item remains for a later launch.
  package var state: ItemState
  package var failure: RecordedFailure?
  package var attemptFailures: [AttemptFailure]
  /// The work of this launch on the item; `nil` if it did not begin the item.
  package var span: ItemSpan?
}
