-- ferry.db with schema 10: the tables as the first commit of this schema created them, with rows that it wrote.
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE history (
  version INTEGER PRIMARY KEY, ferry TEXT NOT NULL, migrated_at INTEGER NOT NULL) STRICT;
PRAGMA application_id = 1179801928;
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
INSERT INTO history (version, ferry, migrated_at) VALUES (1, '0.1.0', 1767225600000000000);
PRAGMA user_version = 1;
INSERT INTO grdb_migrations (identifier) VALUES ('history 1: jobs, rounds and runs');
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
INSERT INTO history (version, ferry, migrated_at) VALUES (2, '0.1.0', 1767225600000000000);
PRAGMA user_version = 2;
INSERT INTO grdb_migrations (identifier) VALUES ('history 2: how fast uploads went');
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
INSERT INTO history (version, ferry, migrated_at) VALUES (3, '0.1.0', 1767225600000000000);
PRAGMA user_version = 3;
INSERT INTO grdb_migrations (identifier) VALUES ('history 3: the bytes that networks carried');
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
INSERT INTO history (version, ferry, migrated_at) VALUES (4, '0.1.0', 1767225600000000000);
PRAGMA user_version = 4;
INSERT INTO grdb_migrations (identifier) VALUES ('history 4: notes to who holds a session');
CREATE TABLE journal (
  session TEXT PRIMARY KEY,
  registered_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO history (version, ferry, migrated_at) VALUES (5, '0.1.0', 1767225600000000000);
PRAGMA user_version = 5;
INSERT INTO grdb_migrations (identifier) VALUES ('history 5: which sessions have a journal');
ALTER TABLE note ADD COLUMN reason TEXT;
CREATE TABLE removed_session (
  session TEXT PRIMARY KEY,
  failure_code TEXT NOT NULL,
  failure_message TEXT NOT NULL,
  items INTEGER NOT NULL,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO history (version, ferry, migrated_at) VALUES (6, '0.1.0', 1767225600000000000);
PRAGMA user_version = 6;
INSERT INTO grdb_migrations (identifier) VALUES ('history 6: why work was canceled');
CREATE TABLE refresh_token (
  chain TEXT PRIMARY KEY,
  manifest TEXT NOT NULL,
  token TEXT NOT NULL,
  value TEXT NOT NULL,
  issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO history (version, ferry, migrated_at) VALUES (7, '0.1.0', 1767225600000000000);
PRAGMA user_version = 7;
INSERT INTO grdb_migrations (identifier) VALUES ('history 7: refresh tokens that servers have issued');
ALTER TABLE round ADD COLUMN pass TEXT;
ALTER TABLE run ADD COLUMN part TEXT;
INSERT INTO history (version, ferry, migrated_at) VALUES (8, '0.1.0', 1767225600000000000);
PRAGMA user_version = 8;
INSERT INTO grdb_migrations (identifier) VALUES ('history 8: the pass over all parts of a divided manifest');
ALTER TABLE round ADD COLUMN closed_by TEXT;
INSERT INTO history (version, ferry, migrated_at) VALUES (9, '0.1.0', 1767225600000000000);
PRAGMA user_version = 9;
INSERT INTO grdb_migrations (identifier) VALUES ('history 9: the run that closed a round');
ALTER TABLE note_path ADD COLUMN size INTEGER;
ALTER TABLE note_path ADD COLUMN modified INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (10, '0.1.0', 1767225600000000000);
PRAGMA user_version = 10;
INSERT INTO grdb_migrations (identifier) VALUES ('history 10: the version of a submitted file');
INSERT INTO job (manifest, path, variables, registered_at) VALUES ('m', '/srv/m.yaml', '{"api":"https://example.org"}', 1767225600000000000);
INSERT INTO round (manifest, number, opened_at, closed_at) VALUES ('m', 1, 1767225600000000000, 1767225601000000000);
INSERT INTO round (manifest, number, opened_at) VALUES ('m', 2, 1767225602000000000);
INSERT INTO run (id, launch, state, pid, process_started, boot, started_at, ended_at, exit_code, report) VALUES ('r1', 'background', 2, 4711, 99, 'b', 1767225600000000000, 1767225601000000000, 1, '/state/runs/r1/report.json');
INSERT INTO run (id, launch, state, pid, process_started, boot, started_at, ended_at) VALUES ('r2', 'foreground', 3, 4712, 100, 'b', 1767225602000000000, 1767225603000000000);
INSERT INTO run_round (run, manifest, round) VALUES (1, 'm', 1);
INSERT INTO run_round (run, manifest, round) VALUES (2, 'm', 2);
INSERT INTO rate (run, manifest, upload, session, bytes, duration) VALUES (1, 'm', 'photos', 's', 5000000, 2000000000);
INSERT INTO usage (network, quarter, bytes) VALUES ('wifi', 1963584, 4000);
INSERT INTO lease (network, quarter, pid, process_started, boot, bytes) VALUES ('wifi', 1963584, 4711, 99, 'b', 1048576);
INSERT INTO note (session, kind, manifest, node, created_at) VALUES ('s', 'submit', 'm', 'photos', 1767225600000000000);
INSERT INTO note_path (note, number, path) VALUES (1, 0, x'66ff2e6a7067');
INSERT INTO journal (session, registered_at) VALUES ('s', 1767225600000000000);
INSERT INTO note (session, kind, reason, created_at) VALUES ('t', 'cancel', 'moved to tape', 1767225600000000000);
INSERT INTO removed_session (session, failure_code, failure_message, items, removed_at) VALUES ('gone', 'session_removed', 'canceled by ferry cancel, which removed the session: moved to tape', 7, 1767225600000000000);
INSERT INTO refresh_token (chain, manifest, token, value, issued_at) VALUES ('c1', 'm', 'login', 'r-2', 1767225600000000000);
UPDATE round SET pass = '5d0f6a0e-4b1c-4d1c-8a57-0c1f6f1f2b11' WHERE number = 2;
UPDATE run SET part = '1/2' WHERE id = 'r2';
UPDATE round SET closed_by = 'r1' WHERE number = 1;
UPDATE note_path SET size = 104, modified = 5;
