"""Runs a manifest in shards on a cluster of Slurm while nodes, tasks and a network fail, and checks the delivery.

usage: faults.py FERRY RECEIVER FOLDER NODES SHARDS FILES DELAY

The script must run as root in network, mount and PID namespaces of its own, so that its daemons end with it:

  unshare --net --mount --pid --fork --kill-child --mount-proc python3 faults.py …

The namespaces of the script contain the controller and the receiver. Each node is a network and PID namespace with two
links: one to the controller, one to the receiver. The receiver delays each content by DELAY seconds, so that the faults
find tasks in progress:

- slurmd and the slurmstepds of node n1 are killed; the tasks' processes continue, except one, which is stopped until all
  jobs have ended
- the link of node n2 to the controller is down for a minute; its link to the receiver stays up
- the process of one task is killed
- one task reaches its time limit

All files must be committed exactly once, and the merged report must add up. The script prints what happened, and exits
with 1 if a check fails.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

FERRY, RECEIVER = sys.argv[1:3]
FOLDER = pathlib.Path(sys.argv[3]).resolve()
NODES, SHARDS, FILES = map(int, sys.argv[4:7])
DELAY = float(sys.argv[7])
SECRET = "secret-of-the-test"
BEGIN = time.monotonic()
ENVIRONMENT = {
    **os.environ, "SLURM_CONF": str(FOLDER / "slurm.conf"), "E2E_SECRET": SECRET, "LC_ALL": "C",
    "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "FERRY_RESTARTS": "100",
}

MANIFEST = """version: 1
name: soak
secrets:
  client_secret: { env: E2E_SECRET }
sessions:
  quick: { timeout_for_request: 20s, max_connections_per_host: 2 }
  uploads: { kind: background, identifier: soak.uploads, max_connections_per_host: 2, timeout_for_request: 20s }
tokens:
  login:
    session: quick
    request:
      method: POST
      url: "http://10.78.0.1:8080/oauth/token"
      form: { grant_type: client_credentials, client_id: e2e, client_secret: "${secrets.client_secret}" }
    capture:
      access_token: { json: /access_token, secret: true }
      expires_in: { json: /expires_in }
    apply: { header: Authorization, value: "Bearer ${token.access_token}" }
    refresh: { before_expiry: 1s }
uploads:
  files:
    session: uploads
    token: login
    files: { root: files }
    allocate:
      session: quick
      request: { url: "http://10.78.0.1:8080/uploads", json: { name: "${file.path}", size: "${file.size}" } }
      capture: { id: { json: /id } }
      valid_for: 1h
    transfer: { request: { url: "http://10.78.0.1:8080/uploads/${allocate.id}/content" } }
    commit:
      session: quick
      request:
        url: "http://10.78.0.1:8080/uploads/${allocate.id}/commit"
        json: { size: "${file.size}", sha256: "${file.sha256}" }
      already_done: { status: [409] }
engine: { slurm: { cpus: 1 } }
"""

SLURM = f"""ClusterName=soak
SlurmctldHost=controller(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={FOLDER}/munge/socket,cred_expire=10
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=30
KillWait=30
MpiDefault=none
StateSaveLocation={FOLDER}/state-of-slurm
SlurmdSpoolDir={FOLDER}/spool-%n
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/slurmd-%n.pid
SlurmctldLogFile={FOLDER}/slurmctld.log
SlurmdLogFile={FOLDER}/slurmd-%n.log
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
"""


def say(*words):
    print(f"soak: {time.monotonic() - BEGIN:6.1f} s ", *words, flush=True)


def run(*words, check=True):
    result = subprocess.run(words, env=ENVIRONMENT, cwd=FOLDER, capture_output=True, text=True)
    if check and result.returncode != 0:
        sys.exit(f"{' '.join(words)}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def start(*words, log="daemons.log"):
    with open(FOLDER / log, "ab") as output:
        return subprocess.Popen(words, env=ENVIRONMENT, cwd=FOLDER, stdout=output, stderr=output)


def wait_until(what, test, limit=60):
    """Polls until the test succeeds, and returns its result. Slurm offers no event to wait for."""
    deadline = time.monotonic() + limit
    while not (found := test()):
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {limit} s\n{run('squeue', check=False)}\n{run('sinfo', '-N', check=False)}")
        time.sleep(0.3)
    return found


def processes():
    """The processes of the script's PID namespace, with those of the nodes: (pid, parent, command line)."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.append((int(folder.name), parent, words))
    return found


def has_ended(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def below(ancestor):
    """The processes that descend from a process."""
    every = processes()
    known = {ancestor}
    while True:
        more = {pid for pid, parent, _ in every if parent in known} | known
        if more == known:
            return [entry for entry in every if entry[0] in known]
        known = more


def make_network():
    # The names of network namespaces are files, which would remain.
    run("mount", "--make-rprivate", "/")
    run("mkdir", "-p", "/run/netns")
    run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    run("ip", "link", "set", "lo", "up")
    for bridge, network in (("control", 77), ("server", 78)):
        run("ip", "link", "add", bridge, "type", "bridge")
        run("ip", "addr", "add", f"10.{network}.0.1/24", "dev", bridge)
        run("ip", "link", "set", bridge, "up")
    for node in range(1, NODES + 1):
        run("ip", "netns", "add", f"n{node}")
        run("ip", "-n", f"n{node}", "link", "set", "lo", "up")
        for bridge, network in (("control", 77), ("server", 78)):
            here, there = f"{bridge[0]}{node}", f"{bridge}0"
            run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", f"n{node}")
            run("ip", "link", "set", here, "master", bridge)
            run("ip", "link", "set", here, "up")
            run("ip", "-n", f"n{node}", "addr", "add", f"10.{network}.0.{node + 1}/24", "dev", there)
            run("ip", "-n", f"n{node}", "link", "set", there, "up")


RELAY = """
import asyncio, sys
async def pipe(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
async def serve(reader, writer):
    there, back = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    await asyncio.gather(pipe(reader, back), pipe(there, writer))
async def main():
    async with await asyncio.start_server(serve, "10.78.0.1", 8080) as server:
        await server.serve_forever()
asyncio.run(main())
"""


def start_receiver():
    start(
        RECEIVER, "--dir", str(FOLDER / "received"), "--port-file", str(FOLDER / "port"), "--require-token",
        "--fault", f"content:delay={DELAY}", log="receiver.log")
    port = wait_until("the receiver", lambda: (FOLDER / "port").exists() and (FOLDER / "port").read_text().strip())
    # The receiver listens only on the loopback address, which each node has for itself.
    start(sys.executable, "-c", RELAY, port)
    return f"http://127.0.0.1:{port}"


def start_slurm():
    text = SLURM + "".join(
        f"NodeName=n{node} NodeHostname=n{node} NodeAddr=10.77.0.{node + 1} CPUs={2 if node < 3 else 4}\n"
        for node in range(1, NODES + 1))
    names = ",".join(f"n{node}" for node in range(1, NODES + 1))
    text += f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP\n"
    (FOLDER / "slurm.conf").write_text(text)
    munge = FOLDER / "munge"
    munge.mkdir(mode=0o700)
    (FOLDER / "state-of-slurm").mkdir()
    FOLDER.chmod(0o755)
    (munge / "key").write_bytes(os.urandom(1024))
    (munge / "key").chmod(0o400)
    run(
        "munged", "--force", f"--socket={munge}/socket", f"--key-file={munge}/key", f"--log-file={munge}/log",
        f"--pid-file={FOLDER}/munged.pid", f"--seed-file={munge}/seed")
    run("hostname", "controller")
    run("slurmctld", "-i")
    nodes = {}
    for node in range(1, NODES + 1):
        # The shell is the first process of the node's PID namespace, so the tasks survive the end of slurmd.
        inside = f"hostname n{node}; slurmd -D -N n{node} & while :; do sleep 1000 & wait $!; done"
        nodes[f"n{node}"] = start(
            # Not `ip netns exec`, which hides the cgroups that slurmd needs.
            "nsenter", f"--net=/run/netns/n{node}", "unshare", "--pid", "--fork", "--mount-proc", "--uts", "bash", "-c",
            inside)
    wait_until("the nodes", lambda: run("sinfo", "-h", "-N", "-t", "idle").count("\n") == NODES)
    return nodes


def tasks(state="R"):
    """The tasks of the array in a state, as (task, node)."""
    lines = run("squeue", "-h", "-r", "-t", state, "-n", "ferry-soak", "-o", "%K %N").split("\n")
    return [tuple(line.split()) for line in lines if len(line.split()) == 2]


def ferries(node):
    """The processes of shards on a node: (pid, shard)."""
    found = []
    for pid, _, words in below(node.pid):
        shard = words[words.index("--shard") + 1] if words[0] == FERRY and "--shard" in words else ""
        if shard[:1].isdigit():
            found.append((pid, shard))
    return found


def release_held():
    """Releases tasks as an administrator would. Slurm holds a task if it starts the task on the node on which an earlier
    process of the task is still alive, and slurmd rejects it."""
    for line in run("squeue", "-h", "-r", "-t", "PD", "-o", "%i %r").splitlines():
        task, reason = line.split(maxsplit=1)
        if "held" in reason:
            say(f"released task {task}, which Slurm held: {reason}")
            run("scontrol", "release", task)


def has_no_jobs():
    release_held()
    return not run("squeue", "-h").strip()


def busy(node, nodes):
    return wait_until(f"a task on {node}", lambda: ferries(nodes[node]), limit=240)


def inject(job, nodes, url):
    """Injects the faults, each on a node with tasks in progress."""
    wait_until("eight tasks", lambda: len(tasks()) == 8, limit=240)
    wait_until("deliveries", lambda: listing(url)[1] >= 8, limit=240)
    # Otherwise the tasks that have not started would run before those that are requeued.
    run("scontrol", "hold", job)
    mine = busy("n1", nodes)
    daemons = [
        pid for pid, _, words in below(nodes["n1"].pid)
        if re.match(r"(\S*/)?slurm(d|stepd)\b", words[0]) and words[0] != "bash"
    ]
    for pid in daemons:
        os.kill(pid, signal.SIGKILL)
    # When the parent of a process group ends, the kernel sends SIGHUP to stopped processes of the group, so none may be
    # stopped before. A zombie may still have threads.
    wait_until("the end of n1's daemons", lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in daemons))
    say(f"killed slurmd and {len(daemons) - 1} slurmstepds of n1; shards {[s for _, s in mine]} continue there")

    os.kill(mine[0][0], signal.SIGSTOP)
    say(f"stopped the process of shard {mine[0][1]} on n1")

    theirs = busy("n2", nodes)
    run("ip", "link", "set", "c2", "down")
    say(f"cut n2 off from the controller; shards {[s for _, s in theirs]} continue there")

    killed, limited = busy("n3", nodes)[:2]
    os.kill(killed[0], signal.SIGKILL)
    say(f"killed the process of shard {killed[1]} on n3")
    limited = limited[1].split("/")[0]
    run("scontrol", "update", f"JobId={job}_{limited}", "TimeLimit=1")
    say(f"set the time limit of shard {limited} to a minute")

    wait_until("n1 and n2 down", lambda: run("sinfo", "-h", "-N", "-t", "down").count("\n") >= 2, limit=180)
    say("Slurm considers n1 and n2 down")
    again = {shard for _, shard in mine + theirs}
    for shard in again:
        run("scontrol", "release", f"{job}_{shard.split('/')[0]}")
    wait_until(
        "the shards of n1 and n2 elsewhere",
        lambda: again <= {f"{t}/{SHARDS}" for t, n in tasks() if n not in ("n1", "n2")}, limit=300)
    alive = [shard for node in ("n1", "n2") for _, shard in ferries(nodes[node]) if shard in again]
    say(f"Slurm has started shards {sorted(again)} again; the old processes of {sorted(alive)} are still alive")
    run("ip", "link", "set", "c2", "up")
    run("scontrol", "release", job)
    say("n2 has its link again, and the other tasks may start")
    return alive, mine[0][0]


def listing(url):
    """The uploads of the receiver, and the number of commits."""
    with urllib.request.urlopen(url + "/received") as response:
        uploads = json.load(response)["uploads"]
    return uploads, sum(upload["commits"] for upload in uploads)


def main():
    (FOLDER / "files").mkdir(parents=True)
    for number in range(FILES):
        (FOLDER / "files" / f"f{number:05}.txt").write_text(f"content {number}\n" * 20)
    (FOLDER / "job.yaml").write_text(MANIFEST)
    make_network()
    url = start_receiver()
    nodes = start_slurm()
    say(f"{NODES} nodes are idle")
    written = subprocess.run(
        [FERRY, "shard", "job.yaml", "--shards", str(SHARDS), "--engine", "slurm", "--state", str(FOLDER / "state"),
         "--program", FERRY, "--engine-option", f"--output={FOLDER}/task-%a.txt", "--engine-option", f"--array=1-{SHARDS}%8",
         "--submit"],
        env=ENVIRONMENT, cwd=FOLDER, capture_output=True, text=True)
    if written.returncode != 0:
        sys.exit(written.stdout + written.stderr)
    say(written.stdout.strip().split("\n")[-1])
    job = re.search(r"jobs \d+, (\d+) and", written.stdout).group(1)
    alive, stopped = inject(job, nodes, url)
    wait_until("the end of all jobs", has_no_jobs, limit=3600)
    say("no job remains")
    before = listing(url)
    os.kill(stopped, signal.SIGCONT)
    wait_until("the end of the process that was stopped", lambda: has_ended(stopped))
    say("the process that was stopped has continued and ended")

    failures = []
    if before != listing(url):
        failures.append("the process that was stopped has sent something")
    if not alive:
        failures.append("no old process was alive when its shard was started again")
    uploads, commits = listing(url)
    uploads = [upload for upload in uploads if upload["commits"] > 0]
    names = {upload["name"] for upload in uploads}
    twice = [upload["name"] for upload in uploads if upload["commits"] != 1]
    say(f"{len(uploads)} uploads are committed, {len(names)} names, {commits} commits")
    if len(uploads) != FILES or len(names) != FILES or commits != FILES or twice:
        failures.append(f"not every file was committed once: {twice[:5]}")
    merged = subprocess.run(
        [FERRY, "report", "merge", str(FOLDER / "state"), "--format", "json"], env=ENVIRONMENT, cwd=FOLDER,
        capture_output=True, text=True)
    report = json.loads(merged.stdout)
    totals = report["totals"]["items"]
    parts = report["run"]["shards"]
    restarts = {part["part"]: part["restarts"] for part in parts if part.get("restarts")}
    say(f"merged report: exit code {merged.returncode}, totals {totals}, restarts {restarts}")
    if merged.returncode != 0 or totals.get("done") != FILES:
        failures.append("the merged report does not add up")
    if sum(part["items"].get("done", 0) for part in parts if "items" in part) != FILES:
        failures.append("the parts of the merged report do not add up")
    lost = sum("no longer owns the journal" in path.read_text() for path in FOLDER.glob("task-*.txt"))
    say(f"{lost} processes have stopped because they had lost their shard; {len(alive)} were alive at the takeover")
    for failure in failures:
        say("FAILED:", failure)
    sys.exit(1 if failures else 0)


main()
