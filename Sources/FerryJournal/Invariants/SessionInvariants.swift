import FerryPlan
import GRDB

/// ferry's own invariants for a session's journal (docs/journal.md).
enum SessionInvariants {
  static func findings(_ db: Database, in file: String) throws -> [JournalFinding] {
    try JournalInvariant.findings(nodes, of: "node", lines: "nodes", key: "name", db)
      + JournalInvariant.findings(items, of: "item", lines: "items", key: "id", db)
      + unreadableCaptures(db, in: file)
      + JournalInvariant.findings(orphans, of: "orphan", lines: "orphans", key: "id", db)
      + JournalInvariant.findings(sessions, of: "session", lines: "lines", key: "id", db)
      + snapshot(db)
  }

  /// The last round of each manifest in the nodes and items.
  static func rounds(_ db: Database, in file: String) throws -> [String: Int64] {
    let pairs = try db.rows(
      """
      SELECT manifest, max(max(round, coalesce((SELECT max(round) FROM item WHERE item.node = node.id), 0)))
        AS round FROM node GROUP BY manifest
      """, of: "node", in: file
    ) { (try $0.value("manifest", as: String.self), try $0.value("round", as: Int64.self)) }
    return Dictionary(pairs.filter { $0.1 > 0 }, uniquingKeysWith: max)
  }

  private static let edited =
    "ferry did not write this value: keep a copy of the file, and restore an older copy; "
  private static let resend = edited + "or drop the open work with ferry reset"

  private static let open = list(ItemState.queued, .allocated, .transferred)
  private static let closed = list(ItemState.done, .failed, .ambiguous, .cancelled)

  private static func list(_ states: ItemState...) -> String {
    "(" + states.map { "\($0.rawValue)" }.joined(separator: ", ") + ")"
  }

  private static let items = [
    JournalInvariant(
      .unknownValue, "id NOT BETWEEN 1 AND \(ItemRow.mostNumber - 1)",
      "have a number that ferry never assigns",
      lost: "nothing, but a run cannot add items after these", remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .unknownValue, "state NOT IN \(open) AND state NOT IN \(closed)", "have an unknown state",
      lost: "the delivery state of these items", remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .unknownValue, "intent NOT BETWEEN 1 AND 5", "have an unknown intent",
      lost: "the step that was about to be sent", remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .brokenReference, "node NOT IN (SELECT id FROM node WHERE kind = \(NodeRow.Kind.upload.rawValue))",
      "do not belong to an upload", lost: "their manifest and upload; their files are sent again",
      remedy: edited + "the items are harmless", stopsRun: false),
    JournalInvariant(
      .intentNotAllowed,
      """
      intent IS NOT NULL AND NOT (state = 5 OR (state = 0 AND intent IN (1, 2)) OR (state = 1 AND intent = 2)
        OR (state = 2 AND intent IN (3, 4, 5)))
      """,
      "have an intent that their state does not allow",
      lost: "whether the step reached the server", remedy: resend),
    JournalInvariant(
      .capturesNotAllowed,
      """
      state IN (0, 4, 6) AND (captures IS NOT NULL OR secret_captures IS NOT NULL)
        OR state IN (0, 3, 4, 6) AND expires IS NOT NULL
      """,
      "have captures or an expiry that their state does not allow",
      lost: "nothing; an upload ID or a secret remains in the file", remedy: resend),
    JournalInvariant(
      .unknownValue,
      "(key_header IS NULL) <> (key_value IS NULL) OR state NOT IN (2, 5) AND key_header IS NOT NULL",
      "have an incomplete idempotency key, or one although no commit is open",
      lost: "how the server recognizes a repeated commit", remedy: resend),
    JournalInvariant(
      .closingDiffers, "(closed_at IS NOT NULL) <> (state IN \(closed))",
      "are closed without a closing time, or are open with one", lost: "the time at which they ended",
      remedy: resend),
    JournalInvariant(
      .unknownValue,
      "after IS NOT NULL AND (after NOT BETWEEN 1 AND 6 OR state <> \(ItemState.done.rawValue))",
      "have an unknown pending action, or a pending action although they are not delivered",
      lost: "whether their files remain to be deleted or moved",
      remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .unknownValue, "inode = 0", "have an impossible inode number",
      lost: "the identity of the sent file; the file is not deleted or moved",
      remedy: edited + "or delete or move the file yourself"),
    JournalInvariant(
      .unknownValue, "(root_device IS NULL) <> (root_inode IS NULL)",
      "have an incomplete identity of their root",
      lost: "whether an empty root is the folder from which the files were sent",
      remedy: edited + "or, if it is the right folder, put a file into the root"),
    JournalInvariant(
      .unknownValue, "after_tried IS NOT NULL AND (after_tried <> 1 OR after IS NOT 1)",
      "record an attempt to delete or move a file, but no such action is pending",
      lost: "whether 'ferry next' reports that a run has something to do",
      remedy: "no action is needed: each run retries pending actions",
      stopsRun: false),
    JournalInvariant(
      .reasonMissing, "state = 4 AND failure_code IS NULL", "failed without a reason",
      lost: "the reason; the next round retries them", remedy: "run the manifest again", stopsRun: false),
    JournalInvariant(
      .unknownValue, "round < 1 OR size < 0 OR (sha256 IS NOT NULL AND length(sha256) <> 32)",
      "have an impossible round, size or digest", lost: "whether the file has changed since its delivery",
      remedy: edited + "the file is sent again if it seems to have changed"),
  ]

  private static let nodes = [
    JournalInvariant(
      .unknownValue,
      """
      kind NOT IN (1, 2, 3) OR (state NOT IN \(open) AND state NOT IN \(closed))
        OR (intent IS NOT NULL AND intent <> 1) OR round < 0 OR counts_from NOT IN (1, 3)
      """,
      "have an unknown kind, state, intent or round", lost: "their outcome",
      remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .intentNotAllowed, "intent IS NOT NULL AND state NOT IN (0, 5)",
      "have an intent that their state does not allow",
      lost: "whether the request reached the server", remedy: resend),
    JournalInvariant(
      .closingDiffers, "(closed_at IS NOT NULL) <> (state IN \(closed))",
      "are closed without a closing time, or are open with one", lost: "the time at which they ended",
      remedy: resend),
    JournalInvariant(
      .unknownValue, "fetched_at IS NULL AND (etag IS NOT NULL OR last_modified IS NOT NULL)",
      "have the validators of a response, but not its time", lost: "the time at which the next fetch is due",
      remedy: "no action is needed: the next fetch rewrites it", stopsRun: false),
  ]

  private static let orphans = [
    JournalInvariant(
      .unknownValue,
      """
      reason NOT BETWEEN 1 AND \(OrphanReason.allCases.map(\.rawValue).max() ?? 0) OR in_doubt NOT IN (0, 1)
        OR size < 0 OR (sha256 IS NOT NULL AND length(sha256) <> 32)
      """,
      "have an unknown reason, or an invalid doubt, size or digest",
      lost: "whether their upload IDs may be released", remedy: edited + "ferry refuses to use it"),
    JournalInvariant(
      .brokenReference, "node NOT IN (SELECT id FROM node WHERE kind = \(NodeRow.Kind.upload.rawValue))",
      "do not belong to an upload", lost: "their manifest and upload; their upload IDs are not released",
      remedy: edited + "or remove them with ferry orphans"),
    JournalInvariant(
      .capturesNotAllowed, "captures IS NULL AND secret_captures IS NULL", "do not contain an upload ID",
      lost: "the upload ID, which the server may keep",
      remedy: edited + "or remove them with ferry orphans"),
    JournalInvariant(
      .orphanInUse,
      """
      in_doubt = 0 AND EXISTS (SELECT 1 FROM item WHERE item.node = orphan.node AND item.path = orphan.path
        AND item.state IN (1, 2, 5) AND item.captures IS orphan.captures
        AND item.secret_captures IS orphan.secret_captures)
      """,
      "have an upload ID that an item still uses",
      lost: "nothing yet; a release would make the ID invalid for its file",
      remedy: "remove them with ferry orphans before the next run"),
    JournalInvariant(
      .closingDiffers, "(tried_at IS NULL) <> (failure_code IS NULL)",
      "record a failed release without a reason, or a reason without an attempt",
      lost: "the reason why they were not released",
      remedy: "no action is needed: the next run retries them", stopsRun: false),
  ]

  private static let sessions = [
    JournalInvariant(
      .unknownValue,
      """
      (delay_period IS NULL) <> (resumed_at IS NULL) OR delay_period < 0 OR events_pending NOT IN (0, 1)
        OR commits < 0
      """,
      "have an incomplete resume delay, an invalid flag for pending events, or a negative count",
      lost: "the delay of the next run",
      remedy: "ferry reset drops the delay")
  ]

  private static func snapshot(_ db: Database) throws -> [JournalFinding] {
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM session") ?? 0
    guard count != 1 else { return [] }
    return [
      JournalFinding(
        .unknownValue, "its table session has \(count) rows instead of one",
        lost: "the resume delay, and the flag for pending on_events",
        remedy: edited + "or: sqlite3 FILE 'INSERT INTO session (id) VALUES (1)'")
    ]
  }

  private static func unreadableCaptures(_ db: Database, in file: String) throws -> [JournalFinding] {
    var findings: [JournalFinding] = []
    for (table, lines) in [("node", "nodes"), ("item", "items"), ("orphan", "orphans")] {
      var ids: [Int64] = []
      _ = try db.rows(
        """
        SELECT id, captures, secret_captures FROM \(table)
        WHERE captures IS NOT NULL OR secret_captures IS NOT NULL
        """, of: table, in: file
      ) { row in
        // A string that cannot be decoded violates this rule.
        if (try? row.captures) == nil { ids.append(try row.value("id")) }
      }
      guard let first = ids.first else { continue }
      findings.append(
        JournalFinding(
          .unreadableText,
          "\(ids.count) of its \(lines) have captures that are not a JSON object (the first: \(first))",
          lost: "their upload IDs; ferry refuses to use them", remedy: resend))
    }
    return findings
  }
}
