import os, re, shutil, sqlite3, sys

# forged-journals.py STATE CASES VALUES: fills every table of a state folder, and then writes VALUES copies of the folder
# for each column, each with another value in this column. Prints a line for each copy: its number, table, column and
# value.
state, cases, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
session, shared = state + "/sessions/e2e.uploads.db", state + "/ferry.db"

def rows(path, inserts):
    db = sqlite3.connect(path)
    for insert in inserts: db.execute(insert)
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()

node = "(SELECT id FROM node WHERE kind = 1)"
capture = """'{"allocate.id":"u1"}'"""
rows(session, [
    "DELETE FROM item WHERE CAST(path AS TEXT) <> 'a.txt'",
    f"INSERT INTO item (id, node, path, round, state, size, modified, handed_over, captures) "
    f"VALUES (901, {node}, CAST('b.txt' AS BLOB), 1, 1, 1, 5, 5, {capture})",
    f"INSERT INTO item (id, node, path, round, state, intent, size, modified, handed_over, captures, secret_captures, expires, closed_at, "
    f"failure_code, failure_status, failure_message) VALUES (902, {node}, CAST('c.txt' AS BLOB), 1, 5, 3, 1, 5, 5, {capture}, {capture}, 5, 5, 'answer_lost', 500, 'x')",
    f"INSERT INTO item (id, node, path, round, state, size, modified, handed_over, closed_at, sha256, after, inode, root_device, root_inode, after_tried) "
    f"VALUES (903, {node}, CAST('d.txt' AS BLOB), 1, 3, 1, 5, 5, 5, zeroblob(32), 1, 7, 7, 7, 1)",
    f"INSERT INTO orphan (id, node, path, size, modified, sha256, captures, secret_captures, handed_over, expires, reason, in_doubt, dropped_at, "
    f"tried_at, failure_code, failure_status, failure_message) VALUES (1, {node}, CAST('e.txt' AS BLOB), 1, 5, zeroblob(32), {capture}, NULL, 5, "
    "9000000000000000000, 2, 0, 5, 5, 'http_status', 500, 'x')",
    "UPDATE session SET delay_period = 1, resumed_at = 1",
    "UPDATE node SET fetched_at = 1, etag = '\"x\"', last_modified = 'x', fetch_interval = 5, closed_at = 5, "
    "failure_code = 'http_status', failure_status = 500, failure_message = 'x' WHERE kind <> 1",
])
run = "(SELECT max(sequence) FROM run)"
rows(shared, [
    f"INSERT OR IGNORE INTO rate (run, manifest, upload, session, bytes, duration) VALUES ({run}, 'e2e', 'files', 'e2e.uploads', 5, 5)",
    "INSERT OR REPLACE INTO usage (network, quarter, bytes) VALUES ('wired', (SELECT unixepoch() / 900), 5)",
    "INSERT INTO lease (network, quarter, pid, process_started, boot, bytes) VALUES ('wired', 1, 1, 1, 'x', 5)",
    "INSERT INTO note (session, kind, manifest, node, reason, created_at) VALUES ('e2e.uploads', 'submit', 'e2e', 'files', 'x', 5)",
    "INSERT INTO removed_session (session, failure_code, failure_message, items, removed_at) VALUES ('gone', 'session_removed', 'x', 5, 5)",
    "INSERT INTO note_path (note, number, path) SELECT max(id), 0, CAST('a.txt' AS BLOB) FROM note",
    "UPDATE round SET closed_at = NULL WHERE number = (SELECT max(number) FROM round)",
])

values = ["NULL", "'x'", "CAST(x'ff41' AS TEXT)", "x'00ff'", "-1", "999", "9223372036854775807", "-9223372036854775808", "1e300"]
count = place = 0
for path in [session, shared]:
    db = sqlite3.connect(path)
    tables = [row[0] for row in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")]
    columns = [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]
    db.close()
    for table, column in columns:
        place += 1
        # Every column is set to NULL and to other values, starting with a different one for each column.
        others = values[1:]
        taken = others[place % len(others):] + others[:place % len(others)]
        for value in values[:1] + taken[:most - 1]:
            folder = f"{cases}/{count}"
            shutil.copytree(state, folder)
            forged = folder + path[len(state):]
            db = sqlite3.connect(forged)
            texts = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").fetchall()
            def write(change):
                db = sqlite3.connect(forged)
                db.execute("PRAGMA writable_schema = ON")
                for name, sql in texts:
                    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (change(sql), name))
                db.commit()
                db.close()
            db.close()
            # Removes the table's constraints, which are restored after the value has been written.
            write(lambda sql: re.sub(r"\bNOT NULL\b|\bSTRICT, (?=WITHOUT)|\bSTRICT$|CHECK \([^()]*\)", "", sql))
            db = sqlite3.connect(forged)
            try:
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}")
                changed = db.total_changes
                db.commit()
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error:
                # The column belongs to a key, and rejects NULL or values of other types.
                changed = 0
            db.close()
            if not changed:
                shutil.rmtree(folder)
                continue
            write(lambda sql: sql)
            for name in ["", "/sessions"]:
                for file in os.listdir(folder + name):
                    if ".db" in file: os.chmod(folder + name + "/" + file, 0o600)
            print(f"{count}\t{table}\t{column}\t{value}")
            count += 1
