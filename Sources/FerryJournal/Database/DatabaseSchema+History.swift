extension DatabaseSchema {
  /// The data shared by all processes of a user: `ferry.db`. docs/journal.md describes the columns.
  static let history = DatabaseSchema(
    // "FRYH"
    applicationID: 0x4652_5948,
    migrations: [
      Migration(
        name: "history 1: jobs, rounds and runs",
        sql: """
          CREATE TABLE job (
            manifest TEXT PRIMARY KEY,
            path TEXT NOT NULL,
            variables TEXT NOT NULL,
            registered_at INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;

          CREATE TABLE round (
            manifest TEXT NOT NULL,
            number INTEGER NOT NULL,
            opened_at INTEGER NOT NULL,
            closed_at INTEGER,
            PRIMARY KEY (manifest, number)
          ) STRICT, WITHOUT ROWID;

          CREATE UNIQUE INDEX round_open ON round (manifest) WHERE closed_at IS NULL;

          CREATE TABLE run (
            sequence INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            launch TEXT NOT NULL,
            state INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            process_started INTEGER NOT NULL,
            boot TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            exit_code INTEGER,
            report TEXT
          ) STRICT;

          CREATE INDEX run_state ON run (state);

          CREATE TABLE run_round (
            run INTEGER NOT NULL REFERENCES run (sequence) ON DELETE CASCADE,
            manifest TEXT NOT NULL,
            round INTEGER NOT NULL,
            PRIMARY KEY (run, manifest)
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 2: how fast uploads went",
        sql: """
          CREATE TABLE rate (
            run INTEGER NOT NULL REFERENCES run (sequence) ON DELETE CASCADE,
            manifest TEXT NOT NULL,
            upload TEXT NOT NULL,
            session TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            duration INTEGER NOT NULL,
            PRIMARY KEY (run, manifest, upload)
          ) STRICT, WITHOUT ROWID;

          CREATE INDEX rate_upload ON rate (manifest, upload, run);
          CREATE INDEX rate_session ON rate (session, run);
          """),
      Migration(
        name: "history 3: the bytes that networks carried",
        sql: """
          CREATE TABLE usage (
            network TEXT NOT NULL,
            quarter INTEGER NOT NULL,
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            PRIMARY KEY (network, quarter)
          ) STRICT, WITHOUT ROWID;

          CREATE TABLE lease (
            network TEXT NOT NULL,
            quarter INTEGER NOT NULL,
            pid INTEGER NOT NULL,
            process_started INTEGER NOT NULL,
            boot TEXT NOT NULL,
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            PRIMARY KEY (network, quarter, pid, process_started, boot)
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 4: notes to who holds a session",
        sql: """
          -- AUTOINCREMENT: a holder that remembers an id never meets another note under it.
          CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL,
            kind TEXT NOT NULL,
            manifest TEXT,
            node TEXT,
            created_at INTEGER NOT NULL
          ) STRICT;

          CREATE INDEX note_session ON note (session);

          CREATE TABLE note_path (
            note INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            path BLOB NOT NULL,
            PRIMARY KEY (note, number)
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 5: which sessions have a journal",
        sql: """
          CREATE TABLE journal (
            session TEXT PRIMARY KEY,
            registered_at INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 6: why work was canceled",
        sql: """
          ALTER TABLE note ADD COLUMN reason TEXT;

          CREATE TABLE removed_session (
            session TEXT PRIMARY KEY,
            failure_code TEXT NOT NULL,
            failure_message TEXT NOT NULL,
            items INTEGER NOT NULL,
            removed_at INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 7: refresh tokens that servers have issued",
        sql: """
          CREATE TABLE refresh_token (
            chain TEXT PRIMARY KEY,
            manifest TEXT NOT NULL,
            token TEXT NOT NULL,
            value TEXT NOT NULL,
            issued_at INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          """),
      Migration(
        name: "history 8: the pass over all parts of a divided manifest",
        sql: """
          ALTER TABLE round ADD COLUMN pass TEXT;
          ALTER TABLE run ADD COLUMN part TEXT;
          """),
      Migration(
        name: "history 9: the run that closed a round",
        sql: """
          ALTER TABLE round ADD COLUMN closed_by TEXT;
          """),
      Migration(
        name: "history 10: the version of a submitted file",
        sql: """
          ALTER TABLE note_path ADD COLUMN size INTEGER;
          ALTER TABLE note_path ADD COLUMN modified INTEGER;
          """),
    ])
}
