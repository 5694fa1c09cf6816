"""Many hosts and many connections: whether the cost of a request grows with their number."""

import os
import pathlib
import shutil

from measure import CONNECTIONS, TOP, Usage, Wrong, execute, tail
from nginx import SIZE
from puts import Puts

MANY_CONNECTIONS = 1_000
CURLS_LIMIT = 300  # the most that `curl --parallel-max` accepts


class Scale:
    """The parts hosts and connections of the benchmark."""

    def __init__(self, puts: Puts) -> None:
        self.puts, self.nginx, self.rows = puts, puts.nginx, puts.rows
        # Downloads are stored in the folder of the manifest, which is in memory: ferry syncs them, and curl does not.
        self.folder = puts.nginx.folder / "hosts"

    def hosts(self, count: int, runs: int) -> None:
        """Compares one download from each of many hosts with curl."""
        self.folder.mkdir()
        shutil.copy(TOP / "jobs/bench-hosts.yaml", self.folder)
        (self.nginx.folder / "small").write_bytes(os.urandom(SIZE))
        with open(self.folder / "urls.txt", "w") as list_file, open(self.puts.work / "curl.config", "w") as config:
            for number in range(count):
                # 127.0.0.1 is not among them, so that the status page has a connection of its own.
                host = f"127.{1 + number // 62_500}.{1 + number // 250 % 250}.{1 + number % 250}"
                url = f"http://{host}:{self.nginx.hosts_port}/small/{number:05}"
                list_file.write(f"{url}\n")
                config.write(f'url = "{url}"\noutput = "{self.target / f"{number:05}"}"\n')
        pairs = []
        for number in range(runs):
            order = ["ferry", "curl"] if number % 2 == 0 else ["curl", "ferry"]
            done = {client: self.download(client, count) for client in order}
            pairs.append((done["ferry"], done["curl"]))
        self.rows.compare(f"one file of 1 KiB from each of {count:,} hosts", "curl -Z", pairs)

    @property
    def target(self) -> pathlib.Path:
        return self.folder / "target"

    def download(self, client: str, count: int) -> Usage:
        shutil.rmtree(self.puts.state, ignore_errors=True)
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir()
        os.sync()
        if client == "ferry":
            command = [self.puts.ferry, "run", self.folder / "bench-hosts.yaml", "--state", self.puts.state, "--quiet"]
        else:
            command = ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", str(CONNECTIONS),
                       "--config", self.puts.work / "curl.config"]
        before = self.nginx.requests()
        status, usage = execute(command, self.puts.log, dict(os.environ))
        received = sum(1 for file in self.target.iterdir() if file.stat().st_size == SIZE)
        requests = self.nginx.requests() - before - 1
        if status != 0 or received != count or requests != count:
            raise Wrong(f"{client} exited with {status}, {received} of {count} files after {requests} requests\n"
                        + tail(self.puts.log))
        return usage

    def connections(self, root: pathlib.Path, count: int, runs: int) -> None:
        """Compares 1,000 connections to one host with six, and 300 with curl, which does not accept more."""
        work = f"{count:,} PUTs of 1 KiB over {{}} connections"
        pairs, with_curl = [], []
        config = self.puts.write_curl_config(root)
        for number in range(runs):
            order = [MANY_CONNECTIONS, CONNECTIONS] if number % 2 == 0 else [CONNECTIONS, MANY_CONNECTIONS]
            done = {limit: self.puts.run_ferry(root, count, connections=limit) for limit in order}
            pairs.append((done[MANY_CONNECTIONS], done[CONNECTIONS]))
            ours = self.puts.run_ferry(root, count, connections=CURLS_LIMIT)
            with_curl.append((ours, self.puts.run_curl(config, count, connections=CURLS_LIMIT)))
        self.rows.compare(work.format(f"{MANY_CONNECTIONS:,}"), f"the same over {CONNECTIONS}", pairs)
        self.rows.compare(work.format(CURLS_LIMIT), "curl -Z", with_curl)
