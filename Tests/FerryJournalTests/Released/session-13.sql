-- The journal of a session with schema 13: the tables as the first commit of this schema created them, with rows that it wrote.
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE history (
  version INTEGER PRIMARY KEY, ferry TEXT NOT NULL, migrated_at INTEGER NOT NULL) STRICT;
PRAGMA application_id = 1179801939;
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
INSERT INTO history (version, ferry, migrated_at) VALUES (1, '0.1.0', 1767225600000000000);
PRAGMA user_version = 1;
INSERT INTO grdb_migrations (identifier) VALUES ('session 1: nodes and items');
ALTER TABLE node ADD COLUMN fetch_interval INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (2, '0.1.0', 1767225600000000000);
PRAGMA user_version = 2;
INSERT INTO grdb_migrations (identifier) VALUES ('session 2: how long a fetch waits');
CREATE TABLE session (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  delay_period INTEGER,
  resumed_at INTEGER,
  events_pending INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO session (id) VALUES (1);
INSERT INTO history (version, ferry, migrated_at) VALUES (3, '0.1.0', 1767225600000000000);
PRAGMA user_version = 3;
INSERT INTO grdb_migrations (identifier) VALUES ('session 3: the resume delay and events');
ALTER TABLE item ADD COLUMN after INTEGER;
ALTER TABLE item ADD COLUMN inode INTEGER;

CREATE INDEX item_after ON item (node) WHERE after = 1;
INSERT INTO history (version, ferry, migrated_at) VALUES (4, '0.1.0', 1767225600000000000);
PRAGMA user_version = 4;
INSERT INTO grdb_migrations (identifier) VALUES ('session 4: what becomes of delivered files');
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
INSERT INTO history (version, ferry, migrated_at) VALUES (5, '0.1.0', 1767225600000000000);
PRAGMA user_version = 5;
INSERT INTO grdb_migrations (identifier) VALUES ('session 5: upload IDs that will not be used');
ALTER TABLE session ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
INSERT INTO history (version, ferry, migrated_at) VALUES (6, '0.1.0', 1767225600000000000);
PRAGMA user_version = 6;
INSERT INTO grdb_migrations (identifier) VALUES ('session 6: how many transactions it was given');
ALTER TABLE node ADD COLUMN stored_file TEXT;
ALTER TABLE node ADD COLUMN stored_from TEXT;
INSERT INTO history (version, ferry, migrated_at) VALUES (7, '0.1.0', 1767225600000000000);
PRAGMA user_version = 7;
INSERT INTO grdb_migrations (identifier) VALUES ('session 7: which file a fetch''s validators are of');
ALTER TABLE item ADD COLUMN key_header TEXT;
ALTER TABLE item ADD COLUMN key_value TEXT;
ALTER TABLE item ADD COLUMN servers TEXT;
ALTER TABLE orphan ADD COLUMN servers TEXT;
INSERT INTO history (version, ferry, migrated_at) VALUES (8, '0.1.0', 1767225600000000000);
PRAGMA user_version = 8;
INSERT INTO grdb_migrations (identifier) VALUES ('session 8: the idempotency key of a commit, and the servers of an upload ID');
ALTER TABLE node ADD COLUMN failed_at INTEGER;
ALTER TABLE session ADD COLUMN foreground_at INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (9, '0.1.0', 1767225600000000000);
PRAGMA user_version = 9;
INSERT INTO grdb_migrations (identifier) VALUES ('session 9: when a fetch last failed, and until when nothing is discretionary by inference');
ALTER TABLE item ADD COLUMN confirmed_bytes INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (10, '0.1.0', 1767225600000000000);
PRAGMA user_version = 10;
INSERT INTO grdb_migrations (identifier) VALUES ('session 10: how many bytes of a file a server has confirmed');
ALTER TABLE session ADD COLUMN lease_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN lease_beat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN lease_duration INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN lease_owner TEXT;
ALTER TABLE session ADD COLUMN lease_renewed_at INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (11, '0.1.0', 1767225600000000000);
PRAGMA user_version = 11;
INSERT INTO grdb_migrations (identifier) VALUES ('session 11: which process owns the journal of a shard');
ALTER TABLE node ADD COLUMN fresh_until INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (12, '0.1.0', 1767225600000000000);
PRAGMA user_version = 12;
INSERT INTO grdb_migrations (identifier) VALUES ('session 12: until when a stored document is fresh');
ALTER TABLE node ADD COLUMN failing_round INTEGER;
ALTER TABLE node ADD COLUMN failing_since INTEGER;
INSERT INTO history (version, ferry, migrated_at) VALUES (13, '0.1.0', 1767225600000000000);
PRAGMA user_version = 13;
INSERT INTO grdb_migrations (identifier) VALUES ('session 13: since when a node has failed in a round');
INSERT INTO node (manifest, name, kind, origin) VALUES ('m', 'photos', 1, 'https://example.org:443');
INSERT INTO node (manifest, name, kind, origin, round, state, closed_at, fetched_at, etag, last_modified, fetch_interval, stored_file, stored_from) VALUES ('m', 'catalog', 2, 'https://example.org:443', 2, 3, 1767225600000000000, 1767225600000000000, '"v1"', 'Thu, 01 Jan 2026 00:00:00 GMT', 900000000000, '77 3 1', 'd1');
UPDATE node SET failed_at = 1767225660000000000, fresh_until = 1767229200000000000 WHERE name = 'catalog';
UPDATE node SET failing_round = 2, failing_since = 1767225600000000000 WHERE name = 'catalog';
INSERT INTO node (manifest, name, kind, origin, round, intent) VALUES ('m', 'notify', 3, 'https://example.org:443', 2, 1);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state) VALUES (1, x'612e6a7067', 100, 1000, 1, 2, 1767225600000000000, 0);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, captures, secret_captures, expires, servers) VALUES (2, x'622e6a7067', 101, 1001, 1, 2, 1767225600000000000, 1, '{"allocate.id":"u2"}', '{"allocate.url":"https://example.org/put?sig=s3cret"}', 1767229200000000000, 'http://a commit=http://b');
INSERT INTO item (id, path, size, modified, node, round, handed_over, intent, state, captures, key_header, key_value, sha256) VALUES (3, x'632e6a7067', 102, 1002, 1, 2, 1767225600000000000, 3, 2, '{"allocate.id":"u3"}', 'Idempotency-Key', 'k3', x'abababababababababababababababababababababababababababababababab');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at, sha256, after, inode) VALUES (4, x'642e6a7067', 103, 1003, 1, 1, 1767225600000000000, 3, 1767225601000000000, x'cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd', 1, 4711);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at, failure_code, failure_status, failure_message) VALUES (5, x'652e6a7067', 104, 1004, 1, 2, 1767225600000000000, 4, 1767225601000000000, 'http_status', 403, 'the server answered 403');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, intent, captures, closed_at, failure_code, failure_message) VALUES (6, x'66ff2e6a7067', 105, 1005, 1, 2, 1767225600000000000, 5, 3, '{"allocate.id":"u6"}', 1767225601000000000, 'answer_lost', 'the answer was lost');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at) VALUES (7, x'672e6a7067', 106, 1006, 1, 1, 1767225600000000000, 6, 1767225601000000000);
INSERT INTO node (id, manifest, name, kind, origin, round, state) VALUES (4, 'm', 'pictures', 4, 'https://example.org:443', 2, 0);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state) VALUES (8, x'702f612e6a7067', 0, -77, 4, 2, 1767225600000000000, 0);
UPDATE session SET delay_period = 120000000000, resumed_at = 1767225600000000000, events_pending = 1, foreground_at = 1767225600000000000 WHERE id = 1;
UPDATE session SET commits = 7;
