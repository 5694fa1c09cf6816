"""PUTs of small files over one HTTP/2 connection: a comparison with h2load."""

import dataclasses
import os
import pathlib
import shutil

from measure import TOP, Wrong
from puts import Puts, Run

STREAMS = 100  # as in jobs/bench-http2.yaml


class HTTP2:
    """The part http2 of the benchmark."""

    def __init__(self, puts: Puts) -> None:
        self.puts, self.nginx = puts, puts.nginx
        if shutil.which("h2load") is None:
            raise SystemExit("bench: h2load is not installed; run scripts/setup bench")

    def run_ferry(self, root: pathlib.Path, count: int) -> Run:
        shutil.rmtree(self.puts.state, ignore_errors=True)
        command = [self.puts.ferry, "run", TOP / "jobs/bench-http2.yaml", "--state", self.puts.state, "--quiet"]
        environment = os.environ | {"FERRY_BENCH_SERVER": self.nginx.http2_url, "FERRY_BENCH_FILES": str(root),
                                    "FERRY_BENCH_CERTIFICATE": str(self.nginx.certificate)}
        return self.on_one_connection(command, count, environment)

    def run_h2load(self, urls: pathlib.Path, body: pathlib.Path, count: int) -> Run:
        command = ["h2load", "-n", str(count), "-c", "1", "-m", str(STREAMS), "-t", "1", "-i", str(urls),
                   "-d", str(body), "-H", ":method: PUT"]
        return self.on_one_connection(command, count, dict(os.environ))

    def on_one_connection(self, command: list, count: int, environment: dict) -> Run:
        before = self.nginx.connections()
        run = self.puts.measure(command, count, environment)
        # Each query of the status is a connection too: two in `measure`, and this one.
        if (used := self.nginx.connections() - before - 3) != 1:
            raise Wrong(f"{command[0]} used {used} connections instead of one")
        return run

    def series(self, root: pathlib.Path, count: int, runs: int) -> dict:
        print(f"\nHTTP/2: {count} PUTs of 1 KiB, one connection, {STREAMS} streams at a time")
        print(f"{'':>5}  {'ferry':>9} {'CPU':>8}  {'h2load':>9} {'CPU':>8}  {'rate':>6} {'CPU':>6}")
        urls, body = self.puts.work / "urls", self.puts.work / "body"
        with open(urls, "w") as file:
            for folder, _, names in os.walk(root):
                for name in names:
                    file.write(f"{self.nginx.http2_url}/{pathlib.Path(folder, name).relative_to(root)}\n")
                    if not body.exists():
                        shutil.copy(pathlib.Path(folder, name), body)
        pairs = []
        for number in range(1, runs + 1):
            if number % 2:
                ferry, peer = self.run_ferry(root, count), self.run_h2load(urls, body, count)
            else:
                peer, ferry = self.run_h2load(urls, body, count), self.run_ferry(root, count)
            pairs.append((ferry, peer))
            print(f"{number:>5}  {ferry.rate:>7.0f}/s {ferry.cpu:>6.2f} s  {peer.rate:>7.0f}/s {peer.cpu:>6.2f} s"
                  f"  {ferry.rate / peer.rate:>6.2f} {ferry.cpu / peer.cpu:>6.2f}", flush=True)
        self.puts.rows.compare(f"{count:,} PUTs of 1 KiB on one HTTP/2 connection", "h2load", pairs, rate=0.6)
        return {
            "files": count, "streams": STREAMS,
            "ferry": [dataclasses.asdict(ferry) for ferry, _ in pairs],
            "h2load": [dataclasses.asdict(peer) for _, peer in pairs],
        }
