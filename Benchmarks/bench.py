#!/usr/bin/env python3
"""Compares ferry with `curl -Z`, and measures its memory, its resume after a kill, and the opening of a large journal.

See Benchmarks/README.md.

usage: Benchmarks/bench.py [--only PART]... [--files N] [--runs N] [--ferry PATH] [--work DIR] [--json FILE]
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent
SIZE = 1024
CONNECTIONS = 6


@dataclasses.dataclass
class Run:
    """One run of a client, from its start to its exit."""

    seconds: float
    cpu: float
    peak: int  # bytes of resident memory
    files: int

    @property
    def rate(self) -> float:
        return self.files / self.seconds


class Wrong(Exception):
    """A run that did not do its work. Its time is meaningless."""


class Nginx:
    """nginx with its root in memory, on a free port."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ferry-bench.", dir="/dev/shm"))
        # The worker drops root's privileges and must be able to write here.
        self.folder.chmod(0o777)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        text = (TOP / "Benchmarks/nginx.conf").read_text()
        text = text.replace("@DIR@", str(self.folder)).replace("@PORT@", str(self.port))
        (self.folder / "nginx.conf").write_text(text)
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if program is None:
            raise SystemExit("bench: nginx is not installed; run scripts/setup bench")
        self.process = subprocess.Popen(
            [program, "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"],
            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                self.requests()
                return
            except (OSError, Wrong):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise SystemExit("bench: nginx did not start")
                time.sleep(0.02)

    def requests(self) -> int:
        """The number of requests that nginx has received, including this one."""
        try:
            with urllib.request.urlopen(f"{self.url}/status") as answer:
                text = answer.read().decode()
        except OSError:
            if (status := self.process.poll()) is not None:
                raise Wrong(f"nginx exited with {status} during the benchmark") from None
            raise
        return int(re.search(r"requests\s+\d+ \d+ (\d+)", text).group(1))

    def fresh(self) -> None:
        """Empties the root."""
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        root.chmod(0o777)

    def received(self) -> int:
        """The number of complete files that nginx holds."""
        count = 0
        for folder, _, names in os.walk(self.folder / "root"):
            count += sum(1 for name in names if os.stat(os.path.join(folder, name)).st_size == SIZE)
        return count

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Bench:
    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, nginx: Nginx) -> None:
        self.ferry, self.work, self.nginx = ferry, work, nginx
        self.log = work / "client.log"

    def make_files(self, count: int, empty: bool = False) -> pathlib.Path:
        """A folder of `count` files, 1,000 in each subfolder. Each file has different content, or all are empty."""
        root = self.work / f"files-{count}"
        for index in range(count):
            folder = root / f"{index // 1000:03}"
            if index % 1000 == 0:
                folder.mkdir(parents=True)
            content = b"" if empty else index.to_bytes(8, "little") * (SIZE // 8)
            (folder / f"{index:06}.bin").write_bytes(content)
        return root

    @property
    def state(self) -> pathlib.Path:
        return self.work / "state"

    @property
    def command(self) -> list:
        return [self.ferry, "run", TOP / "jobs/bench-put.yaml", "--state", self.state, "--quiet"]

    def environment(self, root: pathlib.Path) -> dict:
        return os.environ | {"FERRY_BENCH_SERVER": self.nginx.url, "FERRY_BENCH_FILES": str(root)}

    def run_ferry(self, root: pathlib.Path, count: int, sync_delay: str = "") -> Run:
        shutil.rmtree(self.state, ignore_errors=True)
        environment = self.environment(root)
        if sync_delay:
            environment["FERRY_SYNC_DELAY"] = sync_delay
        return self.measure(self.command, count, environment)

    def write_curl_config(self, root: pathlib.Path) -> pathlib.Path:
        config = self.work / "curl.config"
        with open(config, "w") as file:
            for folder, names, files in os.walk(root):
                names.sort()
                for name in sorted(files):
                    path = pathlib.Path(folder, name)
                    file.write(f'upload-file = "{path}"\nurl = "{self.nginx.url}/{path.relative_to(root)}"\n')
        return config

    def run_curl(self, config: pathlib.Path, count: int) -> Run:
        return self.measure(
            ["curl", "--parallel", "--parallel-max", str(CONNECTIONS), "--silent", "--show-error", "--fail",
             "--config", config], count, dict(os.environ))

    def measure(self, command: list, count: int, environment: dict) -> Run:
        """Runs one client, and fails unless exactly `count` files arrived in exactly `count` requests."""
        self.nginx.fresh()
        # Writes that an earlier run left pending must not slow down this one.
        os.sync()
        before = self.nginx.requests()
        with open(self.log, "wb") as log:
            begin = time.monotonic()
            client = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            _, status, usage = os.wait4(client.pid, 0)
            seconds = time.monotonic() - begin
        client.returncode = os.waitstatus_to_exitcode(status)
        # The status request itself is counted too.
        requests = self.nginx.requests() - before - 1
        received = self.nginx.received()
        if client.returncode != 0 or requests != count or received != count:
            tail = self.log.read_text(errors="replace")[-2000:]
            raise Wrong(f"{command[0]} exited with {client.returncode}; expected {count} files, nginx received "
                        f"{requests} requests and holds {received} files\n{tail}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, count)

    def series(self, title: str, root: pathlib.Path, count: int, runs: int, sync_delay: str = "") -> dict:
        print(f"\n{title}: {count} PUTs of 1 KiB, {CONNECTIONS} connections")
        print(f"{'':>5}  {'ferry':>9} {'CPU':>8}  {'curl -Z':>9} {'CPU':>8}  {'rate':>6} {'CPU':>6}")
        config = self.write_curl_config(root)
        pairs = []
        for number in range(1, runs + 1):
            # The second client might profit from caches that the first one has warmed.
            if number % 2:
                ferry, curl = self.run_ferry(root, count, sync_delay), self.run_curl(config, count)
            else:
                curl, ferry = self.run_curl(config, count), self.run_ferry(root, count, sync_delay)
            pairs.append((ferry, curl))
            print(f"{number:>5}  {ferry.rate:>7.0f}/s {ferry.cpu:>6.2f} s  {curl.rate:>7.0f}/s {curl.cpu:>6.2f} s"
                  f"  {ferry.rate / curl.rate:>6.2f} {ferry.cpu / curl.cpu:>6.2f}", flush=True)
        rate = statistics.median(ferry.rate / curl.rate for ferry, curl in pairs)
        cpu = statistics.median(ferry.cpu / curl.cpu for ferry, curl in pairs)
        print(f"median ratio to curl -Z: rate {rate:.2f}, CPU {cpu:.2f}")
        return {
            "title": title, "files": count, "rate_ratio": rate, "cpu_ratio": cpu,
            "ferry": [dataclasses.asdict(ferry) for ferry, _ in pairs],
            "curl": [dataclasses.asdict(curl) for _, curl in pairs],
        }

    def resume(self, count: int, runs: int) -> dict:
        """Kills ferry halfway, times the next run's first request, and counts the files that are sent again."""
        print(f"\nresume after SIGKILL: {count} files of 1 KiB, half of them done, {CONNECTIONS} connections")
        root = self.make_files(count)
        results = []
        for number in range(1, runs + 1):
            shutil.rmtree(self.state, ignore_errors=True)
            self.nginx.fresh()
            os.sync()
            start = self.nginx.requests()
            polls = 0
            with open(self.log, "wb") as log:
                options = {"env": self.environment(root), "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
                client = subprocess.Popen(self.command, **options)
                # Each poll is a request too.
                while (seen := self.nginx.requests() - start - (polls := polls + 1)) < count / 2:
                    if client.poll() is not None:
                        raise Wrong(f"ferry exited with {client.returncode} before it was killed")
                    time.sleep(0.01)
                client.kill()
                client.wait()
                # Requests in flight arrive.
                time.sleep(0.2)
                before = self.nginx.requests() - start - (polls := polls + 1)
                begin = time.monotonic()
                client = subprocess.Popen(self.command, **options)
                while self.nginx.requests() - start - (polls := polls + 1) <= before:
                    if client.poll() is not None:
                        raise Wrong(f"ferry exited with {client.returncode} and sent nothing")
                    time.sleep(0.001)
                first, cpu = time.monotonic() - begin, processor_time(client.pid)
                client.wait()
            total = self.nginx.requests() - start - (polls := polls + 1)
            received = self.nginx.received()
            if client.returncode != 0 or received != count:
                raise Wrong(f"ferry exited with {client.returncode}, nginx holds {received} of {count} files\n"
                            + self.log.read_text(errors="replace")[-2000:])
            again = total - count
            results.append({"done_at_kill": before, "first_request_seconds": first,
                            "first_request_cpu_seconds": cpu, "files_sent_again": again,
                            "bytes_sent_again": again * SIZE})
            print(f"{number:>5}  killed after {before} files, first request after {first * 1000:.0f} ms "
                  f"(CPU {cpu * 1000:.0f} ms), "
                  f"{again} files sent again ({again * SIZE} bytes)", flush=True)
        return {"files": count, "runs": results}

    def opening(self, count: int, runs: int) -> dict:
        """Delivers empty files to a location that stores nothing, then times commands that open the journal.

        They run with the files present, and again without them.
        """
        print(f"\nopening: a journal with {count} delivered items")
        root = self.make_files(count, empty=True)
        nothing = self.work / "no-files"
        nothing.mkdir()
        server = {"FERRY_BENCH_SERVER": f"{self.nginx.url}/nothing"}
        here, gone = self.environment(root) | server, self.environment(nothing) | server
        shutil.rmtree(self.state, ignore_errors=True)
        before = self.nginx.requests()
        self.timed(self.command, here)
        if (sent := self.nginx.requests() - before - 1) != count:
            raise Wrong(f"expected {count} requests, nginx received {sent}")
        plan = [self.ferry, "plan", TOP / "jobs/bench-put.yaml", "--state", self.state]
        parts = {
            "find": (["find", root, "-type", "f", "-printf", "%P %s %T@\\n"], here),
            "plan": (plan, here),
            "plan, files gone": (plan, gone),
            "status, files gone": ([self.ferry, "status", "--state", self.state], gone),
            "run, files gone": (self.command, gone),
        }
        results = {}
        for name, (command, environment) in parts.items():
            results[name] = [self.timed(command, environment) for _ in range(runs)]
            best = min(results[name], key=lambda one: one["cpu"])
            print(f"{name:>20}  {best['seconds'] * 1000:>6.0f} ms, CPU {best['cpu'] * 1000:>6.0f} ms "
                  f"(user {best['user'] * 1000:.0f}), peak {best['peak'] / 1e6:.1f} MB", flush=True)
        return {"items": count, "runs": results}

    def timed(self, command: list, environment: dict) -> dict:
        """Runs one client, which must exit with 0. Its output is discarded."""
        with open(self.log, "wb") as log:
            begin = time.monotonic()
            client = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
            _, status, usage = os.wait4(client.pid, 0)
            seconds = time.monotonic() - begin
        client.returncode = os.waitstatus_to_exitcode(status)
        if client.returncode != 0:
            raise Wrong(f"{command[0]} exited with {client.returncode}\n"
                        + self.log.read_text(errors="replace")[-2000:])
        unit = 1 if sys.platform == "darwin" else 1024
        return {"seconds": seconds, "user": usage.ru_utime, "cpu": usage.ru_utime + usage.ru_stime,
                "peak": usage.ru_maxrss * unit}

    def memory(self, few: int, many: int) -> dict:
        small = self.run_ferry(self.make_files(few), few).peak
        large = self.run_ferry(self.work / f"files-{many}", many).peak
        growth = (large - small) / (many - few)
        print(f"\nmemory: {small / 1e6:.1f} MB for {few} files, {large / 1e6:.1f} MB for {many}: "
              f"{growth:.0f} bytes per file")
        return {"peak_few": small, "peak_many": large, "bytes_per_file": growth}


def main() -> int:
    options = argparse.ArgumentParser(
        description="Compares ferry with `curl -Z`, and measures its memory, resuming and opening.")
    options.add_argument("--only", action="append", choices=["curl", "memory", "resume", "opening"], default=[],
                         help="measure only this part; may be repeated")
    options.add_argument("--files", type=int, default=20_000, help="number of files in the parts curl and memory")
    options.add_argument("--resume-files", type=int, default=100_000, help="number of files in the part resume")
    options.add_argument("--opening-items", type=int, default=1_000_000,
                         help="number of files in the part opening, which is measured only if it is named")
    options.add_argument("--runs", type=int, default=5, help="number of runs of each client in each series")
    options.add_argument("--ferry", type=pathlib.Path, default=TOP / ".build/release/ferry",
                         help="the program to measure")
    options.add_argument("--work", type=pathlib.Path, default=TOP / ".build/bench",
                         help="folder for files and journals; on a real disk")
    options.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    given = options.parse_args()

    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    kind = file_system(given.work)
    if kind in ("tmpfs", "ramfs"):
        raise SystemExit(
            f"bench: {given.work} is in memory, where a sync costs nothing; set a folder on disk with --work DIR")
    curl = subprocess.run(["curl", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    print(f"{os.cpu_count()} processors, journal on {kind}, curl {curl}")

    nginx = Nginx()
    try:
        bench = Bench(given.ferry.resolve(), given.work.resolve(), nginx)
        parts = given.only or ["curl", "memory", "resume"]
        figures = {}
        if "curl" in parts or "memory" in parts:
            root = bench.make_files(given.files)
        if "curl" in parts:
            figures["series"] = [
                bench.series("journal synced", root, given.files, given.runs),
                bench.series("every sync slowed to 5 ms", root, given.files, given.runs, sync_delay="5ms"),
            ]
        if "memory" in parts:
            figures["memory"] = bench.memory(given.files // 10, given.files)
        if "resume" in parts:
            figures["resume"] = bench.resume(given.resume_files, given.runs)
        if "opening" in parts:
            figures["opening"] = bench.opening(given.opening_items, given.runs)
    except Wrong as wrong:
        print(f"bench: {wrong}", file=sys.stderr)
        return 1
    finally:
        nginx.stop()
        shutil.rmtree(given.work, ignore_errors=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


def processor_time(pid: int) -> float:
    """CPU time of a running process's threads, in seconds; 0 if the system does not report it."""
    total = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(thread.read_text().split()[0])
    return total / 1e9


def file_system(path: pathlib.Path) -> str:
    """The type of the file system that contains a path, found by its longest mount point."""
    best = ("", "unknown")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        inside = str(path.resolve()) == mount or str(path.resolve()).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]


if __name__ == "__main__":
    sys.exit(main())
