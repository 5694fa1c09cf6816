import FerryManifest
import FerryPlan

/// The state of an item or node, as written by `ferry explain ITEM --format json`. The JSON keys are a
/// stable public interface.
package struct ItemDocument: Encodable, Sendable {
  package var version = 1
  /// The item as given on the command line.
  package var item: String
  package var manifest: String
  package var path: String
  package var round: Int64
  /// All uploads, download batches, fetches and requests to which the given item may refer.
  package var matches: [Match]

  package struct Match: Encodable, Sendable {
    package var node: String
    package var kind: Node.Kind
    /// The session's identifier.
    package var session: String
    /// The path of an item, relative to `root`.
    package var path: String?
    /// The bytes of a path that is not UTF-8.
    package var pathBase64: String?
    package var size: Int64?
    /// For an item: `new` if it is not in the journal, otherwise its state in the journal. For a node: as in
    /// a plan.
    package var state: ReportState
    /// The action of the next run for the item or node.
    package var next: Next
    /// The process that is running the session.
    package var pid: Int32?
    /// The manifest's last run, if it was interrupted and the next run resumes it.
    package var interruptedRun: InterruptedRun?
    /// The reason why the item or node is not sent immediately, or the outcome with which it ended.
    package var reason: RecordedFailure?
    package var notBefore: String?
    /// For a canceled item: the reason why `ferry cancel` ended the item, even if the next run sends it.
    package var cancellation: RecordedFailure?
    /// The round of the last attempt.
    package var round: Int64?
    package var handedOverAt: String?
    package var uploadId: UploadID?
    /// The progress of the transfer, for an item that a server has received in part.
    package var transfer: Transfer?
    package var deliveredAt: String?
    /// The state of the `after` action, for a delivered file.
    package var after: After?
    /// The details of an ambiguous item or node.
    package var ambiguity: Ambiguity?
    /// For an upload: the number of items that a run would send.
    package var toSend: Int?
    /// For an upload with items in the journal: the items of the open round, or of the last round.
    package var items: StatusDocument.Items?
    /// The last run that has a report.
    package var lastRun: String?
    /// The attempts in the report of that run. A report contains only failed attempts.
    package var attempts: [RunRecord.AttemptRecord] = []

    package init(
      node: String, kind: Node.Kind, session: String, path: String? = nil, pathBase64: String? = nil,
      size: Int64? = nil, state: ReportState, next: Next, pid: Int32? = nil, reason: RecordedFailure? = nil,
      notBefore: String? = nil, round: Int64? = nil, handedOverAt: String? = nil, uploadId: UploadID? = nil,
      deliveredAt: String? = nil, after: After? = nil, ambiguity: Ambiguity? = nil, toSend: Int? = nil,
      lastRun: String? = nil, attempts: [RunRecord.AttemptRecord] = []
    ) {
      self.node = node
      self.kind = kind
      self.session = session
      self.path = path
      self.pathBase64 = pathBase64
      self.size = size
      self.state = state
      self.next = next
      self.pid = pid
      self.reason = reason
      self.notBefore = notBefore
      self.round = round
      self.handedOverAt = handedOverAt
      self.uploadId = uploadId
      self.deliveredAt = deliveredAt
      self.after = after
      self.ambiguity = ambiguity
      self.toSend = toSend
      self.lastRun = lastRun
      self.attempts = attempts
    }
  }

  /// The `after` action of a delivered file.
  package struct After: Encodable, Sendable {
    /// `owed`, or the result: `deleted`, `moved`, `changed`, `gone`, `kept`.
    package var state: String
    /// The action of the next run for a file that is `owed`: `delete`, `move_to` and the folder, or `keep`
    /// if the manifest no longer specifies an action.
    package var owed: String?
    /// The reason why the file is still there, as reported by the last run; absent if no run has tried yet.
    package var reason: RecordedFailure?

    package init(state: String, owed: String? = nil, reason: RecordedFailure? = nil) {
      self.state = state
      self.owed = owed
      self.reason = reason
    }
  }

  /// The raw values are a stable public interface.
  package enum Next: String, Encodable, Sendable {
    /// The item or node starts immediately.
    case begins
    case waits
    /// A process is running the session now.
    case running
    /// The item or node is closed without being sent.
    case ends
    /// There is nothing to do in this round.
    case nothing
  }

  /// The part of a file that the server has confirmed.
  package struct Transfer: Encodable, Sendable {
    package var `protocol`: Upload.Transfer.`Protocol`
    /// The number of bytes that the server has confirmed. This is only a hint: the next run asks the server.
    package var confirmedBytes: Int64
    /// The number of requests that send the file, and the number of remaining requests.
    package var requests: Int64
    package var remainingRequests: Int64

    package init(
      protocol: Upload.Transfer.`Protocol`, confirmedBytes: Int64, requests: Int64, remainingRequests: Int64
    ) {
      self.protocol = `protocol`
      self.confirmedBytes = confirmedBytes
      self.requests = requests
      self.remainingRequests = remainingRequests
    }
  }

  /// An upload ID in the journal. Its value is not shown.
  package struct UploadID: Encodable, Sendable {
    /// The time at which the ID expires; absent if it does not expire.
    package var expiresAt: String?

    package init(expiresAt: String? = nil) {
      self.expiresAt = expiresAt
    }
  }

  package init(item: String, manifest: String, path: String, round: Int64, matches: [Match]) {
    self.item = item
    self.manifest = manifest
    self.path = path
    self.round = round
    self.matches = matches
  }
}
