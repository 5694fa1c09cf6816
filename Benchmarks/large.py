"""One large file in each direction: a comparison with curl."""

import os
import pathlib
import shutil

from measure import TOP, Usage, Wrong, execute, tail
from nginx import Nginx
from rows import Rows

BLOCK = 1 << 20


class Large:
    """One large upload and one large download, from and to memory. Only ferry's journal is on the disk.

    ferry syncs a download before it renames it, and curl does not. In memory, this costs nothing.
    """

    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, nginx: Nginx, rows: Rows) -> None:
        self.ferry, self.work, self.nginx, self.rows = ferry, work, nginx, rows
        self.log, self.state = work / "client.log", work / "state"
        self.files = nginx.folder / "sources"
        # A download is stored in the folder of the manifest.
        self.fetch = nginx.folder / "bench-fetch.yaml"
        self.target = nginx.folder / "target"

    def measure(self, size: int, runs: int) -> None:
        title = f"{size >> 30} GiB" if size >= 1 << 30 else f"{size >> 20} MiB"
        self.files.mkdir()
        with open(self.files / "large.bin", "wb") as file:
            block = os.urandom(BLOCK)
            for _ in range(size // BLOCK):
                file.write(block)
        shutil.copy(TOP / "jobs/bench-fetch.yaml", self.fetch)
        os.link(self.files / "large.bin", self.nginx.folder / "large")
        for direction in ("upload", "download"):
            pairs = []
            for number in range(runs):
                order = ["ferry", "curl"] if number % 2 == 0 else ["curl", "ferry"]
                done = {client: self.run(client, direction, size) for client in order}
                pairs.append((done["ferry"], done["curl"]))
            self.rows.compare(f"one {direction} of {title}", "curl", pairs, rate=0.98, cpu=1.1)

    def run(self, client: str, direction: str, size: int) -> Usage:
        shutil.rmtree(self.state, ignore_errors=True)
        self.target.unlink(missing_ok=True)
        self.nginx.fresh()
        os.sync()
        if client == "ferry":
            job = {"upload": TOP / "jobs/bench-put.yaml", "download": self.fetch}[direction]
            command = [self.ferry, "run", job, "--state", self.state, "--quiet"]
        else:
            options = {"upload": ["--upload-file", self.files / "large.bin", f"{self.nginx.url}/large.bin"],
                       "download": ["--output", self.target, f"{self.nginx.url}/large"]}
            command = ["curl", "--silent", "--show-error", "--fail", *options[direction]]
        status, usage = execute(command, self.log, os.environ | {
            "FERRY_BENCH_SERVER": self.nginx.url, "FERRY_BENCH_FILES": str(self.files)})
        stored = self.target if direction == "download" else self.nginx.folder / "root/large.bin"
        if status != 0 or not stored.exists() or stored.stat().st_size != size:
            raise Wrong(f"{client} exited with {status}, or the {direction} is not complete\n{tail(self.log)}")
        return usage
