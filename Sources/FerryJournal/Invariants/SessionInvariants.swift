import FerryPlan
import GRDB

/// ferry's own invariants for a session's journal (docs/journal.md).
enum SessionInvariants {
  static func findings(_ db: Database, in file: String) throws -> [JournalFinding] {
    try JournalInvariant.findings(nodes, in: .nodes, db)
      + JournalInvariant.findings(items, in: .items, db)
      + unreadableCaptures(db, in: file)
      + JournalInvariant.findings(orphans, in: .orphans, db)
      + JournalInvariant.findings(sessions, in: .sessions, db)
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

  private static let restore =
    "no version of ferry writes this value: keep a copy of the file, and restore an older one"
  private static let restoreOrReset = restore + ", or drop the remaining work with 'ferry reset'"
  private static let restoreOrRemove = restore + ", or remove them with 'ferry orphans'"

  private static let open = list(ItemState.queued, .allocated, .transferred)
  private static let closed = list(ItemState.done, .failed, .ambiguous, .cancelled)

  private static func list(_ states: ItemState...) -> String {
    "(" + states.map { "\($0.rawValue)" }.joined(separator: ", ") + ")"
  }

  private static let items = [
    JournalInvariant(
      .unknownValue, "id NOT BETWEEN 1 AND \(ItemRow.mostNumber - 1)",
      "with a number that ferry never assigns",
      effect: "a run cannot add items after these", remedy: restore),
    JournalInvariant(
      .unknownValue, "state NOT IN \(open) AND state NOT IN \(closed)", "with an unknown state",
      effect: "ferry cannot determine whether these items were delivered, and does not use them",
      remedy: restore),
    JournalInvariant(
      .unknownValue, "intent NOT BETWEEN 1 AND 5", "with an unknown intent",
      effect: "ferry cannot determine which step was about to be sent, and does not use these items",
      remedy: restore),
    JournalInvariant(
      .brokenReference, "node NOT IN (SELECT id FROM node WHERE \(NodeRow.Kind.ofItems))",
      "that do not belong to a batch",
      effect: "ferry ignores these items and sends their files again",
      remedy: restore + "; if the files may be sent again, no action is needed", stopsRun: false),
    JournalInvariant(
      .intentNotAllowed,
      """
      intent IS NOT NULL AND NOT (state = 5 OR (state = 0 AND intent IN (1, 2)) OR (state = 1 AND intent = 2)
        OR (state = 2 AND intent IN (3, 4, 5)))
      """,
      "with an intent that the state does not allow",
      effect: "ferry cannot determine whether the step reached the server", remedy: restoreOrReset),
    JournalInvariant(
      .capturesNotAllowed,
      """
      state IN (0, 4, 6) AND (captures IS NOT NULL OR secret_captures IS NOT NULL)
        OR state IN (0, 3, 4, 6) AND expires IS NOT NULL
      """,
      "with captures or an expiry that the state does not allow",
      effect: "no information is lost, but an upload ID or a secret remains in the file",
      remedy: restoreOrReset),
    JournalInvariant(
      .unknownValue,
      "(key_header IS NULL) <> (key_value IS NULL) OR state NOT IN (2, 5) AND key_header IS NOT NULL",
      "with an incomplete idempotency key, or with a key but no open commit",
      effect: "the server might not recognize a repeated commit", remedy: restoreOrReset),
    JournalInvariant(
      .closingDiffers, "(closed_at IS NOT NULL) <> (state IN \(closed))",
      "that are closed without a closing time, or open with one",
      effect: "the time at which they ended is unknown", remedy: restoreOrReset),
    JournalInvariant(
      .unknownValue,
      "after IS NOT NULL AND (after NOT BETWEEN 1 AND 6 OR state <> \(ItemState.done.rawValue))",
      "with an unknown pending action, or with one before delivery",
      effect: "ferry cannot determine whether these files must still be deleted or moved", remedy: restore),
    JournalInvariant(
      .unknownValue, "inode = 0", "with an impossible inode number",
      effect: "ferry cannot identify the sent file, and does not delete or move it",
      remedy: restore + ", or delete or move the file yourself"),
    JournalInvariant(
      .unknownValue, "(root_device IS NULL) <> (root_inode IS NULL)",
      "with an incomplete identity of the root",
      effect: "ferry cannot determine whether an empty root is the folder from which the files were sent",
      remedy: restore + "; if the root is the right folder, put a file into it"),
    JournalInvariant(
      .unknownValue, "after_tried IS NOT NULL AND (after_tried <> 1 OR after IS NOT 1)",
      "with an attempt to delete or move the file, but no pending action",
      effect: "'ferry next' may report incorrectly whether there is work for a run",
      remedy: "no action is needed: each run retries pending actions",
      stopsRun: false),
    JournalInvariant(
      .reasonMissing, "state = 4 AND failure_code IS NULL", "that failed without a reason",
      effect: "the reason for the failure is unknown",
      remedy: "run the manifest again: the next round retries these items",
      stopsRun: false),
    JournalInvariant(
      .unknownValue, "round < 1 OR size < 0 OR (sha256 IS NOT NULL AND length(sha256) <> 32)",
      "with an impossible round, size or digest",
      effect: "ferry cannot determine whether the file has changed since its delivery, and may send it again",
      remedy: restore),
  ]

  private static let nodes = [
    JournalInvariant(
      .unknownValue,
      """
      \(NodeRow.Kind.unknown) OR (state NOT IN \(open) AND state NOT IN \(closed))
        OR (intent IS NOT NULL AND intent <> 1) OR round < 0 OR counts_from NOT IN (1, 2, 3)
      """,
      "with an unknown kind, state, intent or round",
      effect: "ferry cannot determine the outcome of these nodes, and does not use them", remedy: restore),
    JournalInvariant(
      .intentNotAllowed, "intent IS NOT NULL AND state NOT IN (0, 5)",
      "with an intent that the state does not allow",
      effect: "ferry cannot determine whether the request reached the server", remedy: restoreOrReset),
    JournalInvariant(
      .closingDiffers, "(closed_at IS NOT NULL) <> (state IN \(closed))",
      "that are closed without a closing time, or open with one",
      effect: "the time at which they ended is unknown", remedy: restoreOrReset),
    JournalInvariant(
      .unknownValue, "fetched_at IS NULL AND (etag IS NOT NULL OR last_modified IS NOT NULL)",
      "with the validators of a response, but without its time",
      effect: "the time at which the next fetch is due is unknown",
      remedy: "no action is needed: the next fetch records its time", stopsRun: false),
  ]

  private static let orphans = [
    JournalInvariant(
      .unknownValue,
      """
      reason NOT BETWEEN 1 AND \(OrphanReason.allCases.map(\.rawValue).max() ?? 0) OR in_doubt NOT IN (0, 1)
        OR size < 0 OR (sha256 IS NOT NULL AND length(sha256) <> 32)
      """,
      "with an unknown reason, or with an invalid doubt, size or digest",
      effect: "ferry cannot determine whether it may release these upload IDs, and does not use them",
      remedy: restore),
    JournalInvariant(
      .brokenReference, "node NOT IN (SELECT id FROM node WHERE kind = \(NodeRow.Kind.upload.rawValue))",
      "that do not belong to an upload",
      effect: "ferry cannot release their upload IDs", remedy: restoreOrRemove),
    JournalInvariant(
      .capturesNotAllowed, "captures IS NULL AND secret_captures IS NULL", "without an upload ID",
      effect: "ferry cannot release the upload ID, and the server may keep it", remedy: restoreOrRemove),
    JournalInvariant(
      .orphanInUse,
      """
      in_doubt = 0 AND EXISTS (SELECT 1 FROM item WHERE item.node = orphan.node AND item.path = orphan.path
        AND item.state IN (1, 2, 5) AND item.captures IS orphan.captures
        AND item.secret_captures IS orphan.secret_captures)
      """,
      "with an upload ID that an item still uses",
      effect: "no information is lost yet, but releasing the upload ID would make the item's upload fail",
      remedy: "remove them with 'ferry orphans' before the next run"),
    JournalInvariant(
      .closingDiffers, "(tried_at IS NULL) <> (failure_code IS NULL)",
      "with a failed release but no reason, or with a reason but no attempt",
      effect: "the reason why they were not released is unknown",
      remedy: "no action is needed: the next run retries the release", stopsRun: false),
  ]

  private static let sessions = [
    JournalInvariant(
      .unknownValue,
      """
      (delay_period IS NULL) <> (resumed_at IS NULL) OR delay_period < 0 OR events_pending NOT IN (0, 1)
        OR commits < 0
      """,
      "with an incomplete resume delay, an invalid flag for pending events, or a negative count",
      effect: "ferry cannot determine the resume delay of the next run",
      remedy: "drop the delay with 'ferry reset'")
  ]

  private static func snapshot(_ db: Database) throws -> [JournalFinding] {
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM session") ?? 0
    guard count != 1 else { return [] }
    return [
      JournalFinding(
        .unknownValue, "the table session has \(count) rows instead of one",
        effect: "the resume delay, and whether on_events must still be run, are unknown",
        remedy: restore + ", or insert the missing row: sqlite3 FILE 'INSERT INTO session (id) VALUES (1)'")
    ]
  }

  private static func unreadableCaptures(_ db: Database, in file: String) throws -> [JournalFinding] {
    var findings: [JournalFinding] = []
    for rows in [JournalInvariant.Rows.nodes, .items, .orphans] {
      var ids: [Int64] = []
      _ = try db.rows(
        """
        SELECT id, captures, secret_captures FROM \(rows.table)
        WHERE captures IS NOT NULL OR secret_captures IS NOT NULL
        """, of: rows.table, in: file
      ) { row in
        // A string that cannot be decoded violates this rule.
        if (try? row.captures) == nil { ids.append(try row.value("id")) }
      }
      guard let first = ids.first else { continue }
      findings.append(
        JournalFinding(
          .unreadableText,
          rows.message(Int64(ids.count), "with captures that are not a JSON object", first: "\(first)"),
          effect: "ferry cannot read their upload IDs, and does not use these rows",
          remedy: restoreOrReset))
    }
    return findings
  }
}
