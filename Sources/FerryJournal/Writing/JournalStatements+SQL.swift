import FerryPlan

/// The SQL of the prepared statements.
extension JournalStatements {
  /// A statement. Its first parameter is the row that it changes.
  enum Statement: Int, CaseIterable {
    case insert, requeue, adopt, intent, commitIntent, withdraw, allocated, confirmedBytes, transferred,
      released, closed,
      closedAmbiguous
    case closedShared, captures, setCaptures, source, confirmed, after, afterTried
    case nodeIntent, nodeWithdraw, nodeClosed, fetchFailed, nodeFailing, resumed, foreground, events
    case servers, orphaned, regained, orphanSettled, orphanDoubted, orphanKept

    /// A new delivery gets a new key.
    private static let noKey = "key_header = NULL, key_value = NULL"
    private static let noServers = "servers = NULL"
    /// While an item has an upload ID (state 1), `inode` contains the identity of the file of which the server may have a
    /// part. From then on, it contains an inode or NULL.
    private static let noPartialIdentity = "inode = CASE state WHEN 1 THEN NULL ELSE inode END"

    var sql: String {
      switch self {
      case .insert:
        """
        INSERT INTO item (id, path, size, modified, node, round, handed_over, state)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)
        """
      case .requeue:
        """
        UPDATE item SET size = ?2, modified = ?3, round = ?4, handed_over = ?5, state = 0, intent = NULL,
        expires = NULL, closed_at = NULL, captures = NULL, secret_captures = NULL, sha256 = NULL,
        failure_code = NULL, failure_status = NULL, failure_message = NULL, after = NULL, inode = NULL,
        root_device = NULL, root_inode = NULL, after_tried = NULL, confirmed_bytes = NULL, \(Self.noKey),
        \(Self.noServers) WHERE id = ?1
        """
      case .adopt: "UPDATE item SET round = ?2, handed_over = ?3 WHERE id = ?1"
      case .intent: "UPDATE item SET intent = ?2 WHERE id = ?1"
      case .commitIntent: "UPDATE item SET intent = ?2, key_header = ?3, key_value = ?4 WHERE id = ?1"
      case .withdraw: "UPDATE item SET intent = NULL WHERE id = ?1"
      case .allocated:
        // The intent of a transfer remains: the upload resource shows which bytes the server has only as long as it exists.
        """
        UPDATE item SET state = 1, intent = nullif(intent, \(ItemStep.allocate.rawValue)), captures = ?2,
        secret_captures = ?3, expires = ?4, \(Self.noKey) WHERE id = ?1
        """
      case .confirmedBytes: "UPDATE item SET confirmed_bytes = ?2 WHERE id = ?1"
      case .transferred:
        """
        UPDATE item SET state = 2, intent = NULL, sha256 = ?2, \(Self.noPartialIdentity), \(Self.noKey)
        WHERE id = ?1
        """
      case .released:
        """
        UPDATE item SET state = 0, intent = NULL, captures = NULL, secret_captures = NULL, expires = NULL,
        sha256 = NULL, confirmed_bytes = NULL, \(Self.noKey), \(Self.noServers) WHERE id = ?1
        """
      case .closed:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, intent = NULL, captures = NULL, secret_captures = NULL, expires = NULL,
        \(Self.noPartialIdentity), \(Self.noKey), \(Self.noServers) WHERE id = ?1
        """
      case .closedShared:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, intent = NULL, expires = NULL, \(Self.noPartialIdentity), \(Self.noKey)
        WHERE id = ?1
        """
      case .closedAmbiguous:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6 WHERE id = ?1
        """
      case .captures: "SELECT captures, secret_captures FROM item WHERE id = ?1"
      case .setCaptures: "UPDATE item SET captures = ?2, secret_captures = ?3 WHERE id = ?1"
      case .source:
        """
        UPDATE item SET inode = coalesce(?2, inode), sha256 = coalesce(?3, sha256),
        root_device = CASE WHEN ?2 IS NULL THEN root_device ELSE ?4 END,
        root_inode = CASE WHEN ?2 IS NULL THEN root_inode ELSE ?5 END WHERE id = ?1
        """
      case .confirmed: "UPDATE item SET modified = ?2, sha256 = ?3 WHERE id = ?1 AND state = 3"
      case .after: "UPDATE item SET after = ?2, after_tried = NULL WHERE id = ?1"
      case .afterTried: "UPDATE item SET after_tried = 1 WHERE id = ?1"
      case .nodeIntent:
        """
        UPDATE node SET intent = 1, round = ?2, state = 0, closed_at = NULL, captures = NULL,
        secret_captures = NULL, failure_code = NULL, failure_status = NULL, failure_message = NULL
        WHERE id = ?1
        """
      case .nodeWithdraw: "UPDATE node SET intent = NULL WHERE id = ?1"
      case .nodeClosed:
        """
        UPDATE node SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, round = ?7, captures = ?8, secret_captures = ?9,
        intent = CASE ?2 WHEN 5 THEN intent END,
        etag = CASE WHEN ?10 IS NULL THEN etag ELSE ?11 END,
        last_modified = CASE WHEN ?10 IS NULL THEN last_modified ELSE ?12 END,
        fetch_interval = CASE WHEN ?10 IS NULL THEN fetch_interval ELSE ?13 END,
        stored_file = CASE WHEN ?10 IS NULL THEN stored_file ELSE ?14 END,
        stored_from = CASE WHEN ?10 IS NULL THEN stored_from ELSE ?15 END,
        fresh_until = CASE WHEN ?10 IS NULL THEN fresh_until ELSE ?16 END,
        fetched_at = coalesce(?10, fetched_at),
        failed_at = CASE WHEN kind <> 2 OR ?2 = 3 THEN NULL WHEN ?2 IN (4, 5) THEN ?3 ELSE failed_at END
        WHERE id = ?1
        """
      case .fetchFailed:
        """
        UPDATE node SET round = ?2, state = 0, closed_at = NULL, failed_at = ?3, failure_code = ?4,
        failure_status = ?5, failure_message = ?6, intent = NULL, captures = NULL, secret_captures = NULL
        WHERE id = ?1
        """
      case .nodeFailing: "UPDATE node SET failing_round = ?2, failing_since = ?3 WHERE id = ?1"
      case .resumed: "UPDATE session SET delay_period = ?2, resumed_at = ?3 WHERE id = ?1"
      case .foreground: "UPDATE session SET foreground_at = ?2 WHERE id = ?1"
      case .events: "UPDATE session SET events_pending = ?2 WHERE id = ?1"
      case .servers: "UPDATE item SET servers = ?2 WHERE id = ?1"
      case .orphaned:
        OrphanRow.insert(id: "?2", reason: "?3", inDoubt: "?4", at: "?5", where: "id = ?1")
      case .regained:
        """
        DELETE FROM orphan WHERE node = (SELECT node FROM item WHERE id = ?1) AND captures IS ?2
        AND secret_captures IS ?3 AND in_doubt = 0 AND servers IS (SELECT servers FROM item WHERE id = ?1)
        """
      case .orphanSettled: "DELETE FROM orphan WHERE id = ?1"
      case .orphanDoubted: "UPDATE orphan SET in_doubt = 1 WHERE id = ?1"
      case .orphanKept:
        """
        UPDATE orphan SET tried_at = ?3, failure_code = ?4, failure_status = ?5, failure_message = ?6
        WHERE id = ?1
        """
      }
    }
  }
}
