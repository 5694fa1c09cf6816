-- The journal of a session with schema 1: the tables as commit 782d5a0 created them, with rows that it wrote.
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
INSERT INTO node (manifest, name, kind, origin) VALUES ('m', 'photos', 1, 'https://example.org:443');
INSERT INTO node (manifest, name, kind, origin, round, state, closed_at, fetched_at, etag, last_modified) VALUES ('m', 'catalog', 2, 'https://example.org:443', 2, 3, 1767225600000000000, 1767225600000000000, '"v1"', 'Thu, 01 Jan 2026 00:00:00 GMT');
INSERT INTO node (manifest, name, kind, origin, round, intent) VALUES ('m', 'notify', 3, 'https://example.org:443', 2, 1);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state) VALUES (1, x'612e6a7067', 100, 1000, 1, 2, 1767225600000000000, 0);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, captures, secret_captures, expires) VALUES (2, x'622e6a7067', 101, 1001, 1, 2, 1767225600000000000, 1, '{"allocate.id":"u2"}', '{"allocate.url":"https://example.org/put?sig=s3cret"}', 1767229200000000000);
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, captures, sha256) VALUES (3, x'632e6a7067', 102, 1002, 1, 2, 1767225600000000000, 2, '{"allocate.id":"u3"}', x'abababababababababababababababababababababababababababababababab');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at, sha256) VALUES (4, x'642e6a7067', 103, 1003, 1, 1, 1767225600000000000, 3, 1767225601000000000, x'cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at, failure_code, failure_status, failure_message) VALUES (5, x'652e6a7067', 104, 1004, 1, 2, 1767225600000000000, 4, 1767225601000000000, 'http_status', 403, 'the server answered 403');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, intent, captures, closed_at, failure_code, failure_message) VALUES (6, x'66ff2e6a7067', 105, 1005, 1, 2, 1767225600000000000, 5, 3, '{"allocate.id":"u6"}', 1767225601000000000, 'answer_lost', 'the answer was lost');
INSERT INTO item (id, path, size, modified, node, round, handed_over, state, closed_at) VALUES (7, x'672e6a7067', 106, 1006, 1, 1, 1767225600000000000, 6, 1767225601000000000);
