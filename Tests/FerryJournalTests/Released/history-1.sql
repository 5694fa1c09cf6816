-- ferry.db with schema 1: the tables as commit 782d5a0 created them, with rows that it wrote.
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
INSERT INTO job (manifest, path, variables, registered_at) VALUES ('m', '/srv/m.yaml', '{"api":"https://example.org"}', 1767225600000000000);
INSERT INTO round (manifest, number, opened_at, closed_at) VALUES ('m', 1, 1767225600000000000, 1767225601000000000);
INSERT INTO round (manifest, number, opened_at) VALUES ('m', 2, 1767225602000000000);
INSERT INTO run (id, launch, state, pid, process_started, boot, started_at, ended_at, exit_code, report) VALUES ('r1', 'background', 2, 4711, 99, 'b', 1767225600000000000, 1767225601000000000, 1, '/state/runs/r1/report.json');
INSERT INTO run (id, launch, state, pid, process_started, boot, started_at, ended_at) VALUES ('r2', 'foreground', 3, 4712, 100, 'b', 1767225602000000000, 1767225603000000000);
INSERT INTO run_round (run, manifest, round) VALUES (1, 'm', 1);
INSERT INTO run_round (run, manifest, round) VALUES (2, 'm', 2);
