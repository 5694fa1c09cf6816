import FerryPlan

/// Where an item or node stands, as `ferry explain ITEM --format json` writes it. Its keys are an interface.
package struct ItemDocument: Encodable, Sendable {
  package var version = 1
  /// As it was asked for.
  package var item: String
  package var manifest: String
  package var path: String
  package var round: Int64
  /// Every upload, fetch or request that it may mean.
  package var matches: [Match]

  package struct Match: Encodable, Sendable {
    package var node: String
    package var kind: Node.Kind
    /// Its identifier.
    package var session: String
    /// Of an item: relative to `root`.
    package var path: String?
    /// Where the name is not UTF-8: its bytes.
    package var pathBase64: String?
    package var size: Int64?
    /// Of an item: `new` where the journal does not have it, else a state of the journal. Of a node: as in a plan.
    package var state: String
    /// What the next run makes of it.
    package var next: Next
    /// The process that carries its session out.
    package var pid: Int32?
    /// Why it is not sent at once, or how it ended.
    package var reason: RecordedFailure?
    package var notBefore: String?
    /// The round of its last attempt.
    package var round: Int64?
    package var handedOverAt: String?
    package var uploadId: UploadID?
    package var deliveredAt: String?
    /// Of a delivered file, where something was asked for.
    package var after: After?
    /// Of what is ambiguous.
    package var ambiguity: Ambiguity?
    /// Of an upload: how many items a run would send.
    package var toSend: Int?
    /// The last run that has a report.
    package var lastRun: String?
    /// Those in that report, which has what did not go well.
    package var attempts: [RunRecord.AttemptRecord] = []
  }

  /// What becomes of a delivered file.
  package struct After: Encodable, Sendable {
    /// `owed`, or what became of it: `deleted`, `moved`, `changed`, `gone`, `kept`.
    package var state: String
    /// What the next run does with what is owed: `delete`, `move_to` and the folder, or `keep` where the manifest asks
    /// for nothing any more.
    package var owed: String?
    /// Why it is still there, as the last run told it; absent where none has come to it.
    package var reason: RecordedFailure?
  }

  /// Raw values are an interface.
  package enum Next: String, Encodable, Sendable {
    /// It is begun at once.
    case begins
    case waits
    /// A process carries its session out now.
    case running
    /// It is ended without being sent.
    case ends
    /// There is nothing to do in this round.
    case nothing
  }

  /// An upload ID that the journal holds; its value is not told.
  package struct UploadID: Encodable, Sendable {
    /// Absent where it may be used for ever.
    package var expiresAt: String?
  }
}
