extension DatabaseSchema {
  /// A session's journal: `sessions/IDENT.db`. docs/journal.md describes the columns.
  static let session = DatabaseSchema(
    // "FRYS"
    applicationID: 0x4652_5953,
    migrations: [
      Migration(
        name: "session 1: nodes and items",
        sql: """
          CREATE TABLE node (
            id INTEGER PRIMARY KEY,
            manifest TEXT NOT NULL,
            name TEXT NOT NULL,
            kind INTEGER NOT NULL,
            origin TEXT NOT NULL,
            round INTEGER NOT NULL DEFAULT 0,
            state INTEGER NOT NULL DEFAULT 0,
            intent INTEGER,
            closed_at INTEGER,
            fetched_at INTEGER,
            etag TEXT,
            last_modified TEXT,
            captures TEXT,
            secret_captures TEXT,
            failure_code TEXT,
            failure_status INTEGER,
            failure_message TEXT,
            UNIQUE (manifest, name, kind, origin)
          ) STRICT;

          CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            node INTEGER NOT NULL,
            path BLOB NOT NULL,
            round INTEGER NOT NULL,
            state INTEGER NOT NULL,
            intent INTEGER,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            handed_over INTEGER NOT NULL,
            expires INTEGER,
            closed_at INTEGER,
            captures TEXT,
            secret_captures TEXT,
            sha256 BLOB,
            failure_code TEXT,
            failure_status INTEGER,
            failure_message TEXT
          ) STRICT;

          CREATE UNIQUE INDEX item_path ON item (node, path);
          """),
      Migration(
        name: "session 2: how long a fetch waits",
        sql: "ALTER TABLE node ADD COLUMN fetch_interval INTEGER;"),
      Migration(
        name: "session 3: the resume delay and events",
        sql: """
          CREATE TABLE session (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            delay_period INTEGER,
            resumed_at INTEGER,
            events_pending INTEGER NOT NULL DEFAULT 0
          ) STRICT;

          INSERT INTO session (id) VALUES (1);
          """),
      Migration(
        name: "session 4: what becomes of delivered files",
        sql: """
          ALTER TABLE item ADD COLUMN after INTEGER;
          ALTER TABLE item ADD COLUMN inode INTEGER;

          CREATE INDEX item_after ON item (node) WHERE after = 1;
          """),
      Migration(
        name: "session 5: upload IDs that will not be used",
        sql: """
          ALTER TABLE node ADD COLUMN counts_from INTEGER;
          ALTER TABLE item ADD COLUMN root_device INTEGER;
          ALTER TABLE item ADD COLUMN root_inode INTEGER;
          ALTER TABLE item ADD COLUMN after_tried INTEGER;

          CREATE TABLE orphan (
            id INTEGER PRIMARY KEY,
            node INTEGER NOT NULL,
            path BLOB NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            sha256 BLOB,
            captures TEXT,
            secret_captures TEXT,
            handed_over INTEGER NOT NULL,
            expires INTEGER,
            reason INTEGER NOT NULL,
            in_doubt INTEGER NOT NULL,
            dropped_at INTEGER NOT NULL,
            tried_at INTEGER,
            failure_code TEXT,
            failure_status INTEGER,
            failure_message TEXT
          ) STRICT;

          CREATE INDEX orphan_captures ON orphan (node, captures, secret_captures);

          -- Until here a commit that can be sent again left no mark before its outcome.
          UPDATE item SET intent = 3 WHERE state = 2 AND intent IS NULL;
          """),
      Migration(
        name: "session 6: how many transactions it was given",
        sql: "ALTER TABLE session ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;"),
      Migration(
        name: "session 7: which file a fetch's validators are of",
        sql: """
          ALTER TABLE node ADD COLUMN stored_file TEXT;
          ALTER TABLE node ADD COLUMN stored_from TEXT;
          """),
      Migration(
        name: "session 8: the idempotency key of a commit, and the servers of an upload ID",
        sql: """
          ALTER TABLE item ADD COLUMN key_header TEXT;
          ALTER TABLE item ADD COLUMN key_value TEXT;
          ALTER TABLE item ADD COLUMN servers TEXT;
          ALTER TABLE orphan ADD COLUMN servers TEXT;
          """),
      Migration(
        name: "session 9: when a fetch last failed, and until when nothing is discretionary by inference",
        sql: """
          ALTER TABLE node ADD COLUMN failed_at INTEGER;
          ALTER TABLE session ADD COLUMN foreground_at INTEGER;
          """),
      Migration(
        name: "session 10: how many bytes of a file a server has confirmed",
        sql: "ALTER TABLE item ADD COLUMN confirmed_bytes INTEGER;"),
      Migration(
        name: "session 11: which process owns the journal of a shard",
        sql: """
          ALTER TABLE session ADD COLUMN lease_epoch INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE session ADD COLUMN lease_beat INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE session ADD COLUMN lease_duration INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE session ADD COLUMN lease_owner TEXT;
          ALTER TABLE session ADD COLUMN lease_renewed_at INTEGER;
          """),
      // The kind 4 of `node`, for download batches, belongs to this version too. It needs no other columns.
      Migration(
        name: "session 12: until when a stored document is fresh",
        sql: "ALTER TABLE node ADD COLUMN fresh_until INTEGER;"),
      Migration(
        name: "session 13: since when a node has failed in a round",
        sql: """
          ALTER TABLE node ADD COLUMN failing_round INTEGER;
          ALTER TABLE node ADD COLUMN failing_since INTEGER;
          """),
    ])
}
