"""Runs shards whose state is on NFS, on two simulated machines, and checks that each file is committed once.

usage: shards.py FERRY RECEIVER

machine.sh runs the script. The machines are /mnt/a and /mnt/b, mounts of one folder by two clients, with different boot
IDs, so that a process cannot tell whether a process on the other machine is alive. On one of them, the process of a
shard is killed, and that of another shard is stopped for longer than its lease; the other machine takes both shards
over. The script prints what happened, and exits with 1 if a check fails.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request
import uuid

FERRY, RECEIVER = sys.argv[1:3]
WORK = pathlib.Path("/mnt/work")
FILES = 80
LEASE = 4
BEGIN = time.monotonic()

MANIFEST = """version: 1
name: shared
sessions:
  quick: { max_connections_per_host: 2 }
  uploads: { kind: background, identifier: shared.uploads, max_connections_per_host: 2 }
uploads:
  files:
    session: uploads
    files: { root: files }
    allocate:
      session: quick
      request: { url: "URL/uploads", json: { name: "${file.path}", size: "${file.size}" } }
      capture: { id: { json: /id } }
    transfer: { request: { url: "URL/uploads/${allocate.id}/content" } }
    commit:
      session: quick
      request: { url: "URL/uploads/${allocate.id}/commit", json: { size: "${file.size}", sha256: "${file.sha256}" } }
      already_done: { status: [409] }
"""


def say(*words):
    print(f"soak: {time.monotonic() - BEGIN:5.1f} s ", *words, flush=True)


def check(holds, *words):
    if not holds:
        say("FAILED:", *words)
        for log in WORK.glob("*.log"):
            print(log.name, log.read_text(errors="replace")[-2000:])
        sys.exit(1)


def wait_until(what, test, limit=120):
    """There is nothing else to wait for: the receiver does not report what it has received."""
    deadline = time.monotonic() + limit
    while not (found := test()):
        check(time.monotonic() < deadline, what, f"not within {limit} s")
        time.sleep(0.1)
    return found


class Machine:
    def __init__(self, name):
        self.name, self.state = name, f"/mnt/{name}/state"
        self.boot = WORK / f"boot-{name}"
        self.boot.write_text(f"{uuid.uuid4()}\n")

    def start(self, part, *options):
        """Starts a part. The process is ferry itself."""
        script = f'mount --bind {self.boot} /proc/sys/kernel/random/boot_id && exec "$@"'
        with open(WORK / f"{part.replace('/', '-of-')}-{self.name}.log", "ab") as output:
            return subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", script, "sh", FERRY, "run", "job.yaml", "--shard", part, "--state",
                 self.state, "--lease", f"{LEASE}s", "--quiet", *options], cwd=WORK, stdout=output, stderr=output)


def listing(url):
    with urllib.request.urlopen(url + "/received") as response:
        uploads = json.load(response)["uploads"]
    return uploads, sum(upload["commits"] for upload in uploads)


def journal_modes(state):
    """The write versions in the headers of the databases (https://sqlite.org/fileformat.html): 1 is a rollback journal,
    and 2 is a write-ahead log."""
    return {path.name: path.read_bytes()[18] for path in pathlib.Path(state).rglob("*.db") if path.stat().st_size}


def main():
    (WORK / "files").mkdir()
    for number in range(FILES):
        (WORK / "files" / f"f{number}.txt").write_text(f"content {number}\n")
    with open(WORK / "receiver.log", "wb") as output:
        subprocess.Popen(
            [RECEIVER, "--dir", WORK / "received", "--port-file", WORK / "port", "--fault", "content:delay=1"],
            stdout=output, stderr=output)
    port = wait_until("the receiver", lambda: (WORK / "port").exists() and (WORK / "port").read_text().strip())
    url = f"http://127.0.0.1:{port}"
    (WORK / "job.yaml").write_text(MANIFEST.replace("URL", url))
    mounts = [line.split()[3] for line in pathlib.Path("/proc/mounts").read_text().splitlines() if " nfs4 " in line]
    check(len(mounts) == 2 and all("vers=4.2" in mount for mount in mounts), "the mounts are", mounts)
    a, b = Machine("a"), Machine("b")

    first = a.start("1/2")
    wait_until("four commits", lambda: listing(url)[1] >= 4)
    second = b.start("1/2")
    check(second.wait(60) == 6, "a second process of a shard that is in use exited with", second.returncode)
    check(first.poll() is None, "the first process ended with", first.returncode)
    first.send_signal(signal.SIGKILL)
    first.wait()
    killed = listing(url)[1]
    say(f"killed the process of shard 1/2 on a after {killed} commits; b had exited with 6 while it was alive")
    begin = time.monotonic()
    check((code := b.start("1/2").wait(120)) == 0, "shard 1/2 on b exited with", code)
    say(f"b has completed shard 1/2 in {time.monotonic() - begin:.1f} s, including the lease of a")
    modes = journal_modes(b.state)
    check(modes and set(modes.values()) == {1}, "not all databases have a rollback journal:", modes)

    before = listing(url)[1]
    stopped = a.start("2/2")
    wait_until("four more commits", lambda: listing(url)[1] >= before + 4)
    for attempt in range(5):
        stopped.send_signal(signal.SIGSTOP)
        say("stopped the process of shard 2/2 on a")
        if (code := b.start("2/2").wait(120)) != 6:
            break
        # It was stopped during a transaction, whose lock on the file only its own process can release.
        stopped.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    check(code == 0, "shard 2/2 on b exited with", code)
    after = listing(url)
    stopped.send_signal(signal.SIGCONT)
    code = stopped.wait(60)
    check(code not in (0, -signal.SIGKILL), "the process that was stopped exited with", code)
    check(listing(url) == after, "the process that was stopped has sent something")
    say(f"b has completed shard 2/2; the stopped process of a has continued, sent nothing and exited with {code}")

    uploads, commits = listing(url)
    names = {upload["name"] for upload in uploads if upload["commits"]}
    check(commits == FILES and len(names) == FILES, f"{commits} commits of {len(names)} files")
    merged = subprocess.run(
        [FERRY, "report", "merge", a.state, "--format", "json"], cwd=WORK, capture_output=True, text=True)
    report = json.loads(merged.stdout)
    check(merged.returncode == 0, "report merge exited with", merged.returncode, merged.stderr, report["run"]["shards"])
    totals = report["totals"]["items"]
    check(totals.get("done") == FILES, "the merged report has", totals)
    say(f"{commits} commits of {len(names)} files; a reads the same in the merged report")


main()
