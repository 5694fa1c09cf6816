"""PUTs of small files to nginx: a comparison with `curl -Z`, observing, memory, resuming, and opening a journal."""

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import time

from measure import CONNECTIONS, TOP, Wrong, execute, processor_time, tail
from nginx import SIZE, Nginx


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


class Puts:
    """The parts curl, observing, memory, resume and opening of the benchmark, which send small files to nginx."""

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

    @property
    def observed_command(self) -> list:
        """The same with a progress line each second, events and a log."""
        return [*self.command[:-1], "--progress-interval", "1s", "--events", self.work / "events.ndjson", "--log",
                self.work / "ferry.log"]

    def run_observed(self, root: pathlib.Path, count: int) -> Run:
        shutil.rmtree(self.state, ignore_errors=True)
        lines = {}
        for name in ["events.ndjson", "ferry.log"]:
            (self.work / name).unlink(missing_ok=True)
        run = self.measure(self.observed_command, count, self.environment(root))
        for name in ["events.ndjson", "ferry.log"]:
            with open(self.work / name, "rb") as file:
                lines[name] = sum(1 for _ in file)
        # A line for each request and each item, and two for the run.
        if set(lines.values()) != {2 * count + 2}:
            raise Wrong(f"expected {2 * count + 2} lines in each file, found {lines}")
        return run

    def observing(self, root: pathlib.Path, count: int, runs: int) -> dict:
        """What progress, events and a log cost, in pairs."""
        print(f"\nobserving: {count} PUTs of 1 KiB with progress, --events and --log")
        print(f"{'':>5}  {'observed':>9} {'CPU':>8}  {'--quiet':>9} {'CPU':>8}  {'time':>6} {'CPU':>6}")
        pairs = []
        for number in range(1, runs + 1):
            if number % 2:
                observed, quiet = self.run_observed(root, count), self.run_ferry(root, count)
            else:
                quiet, observed = self.run_ferry(root, count), self.run_observed(root, count)
            pairs.append((observed, quiet))
            print(f"{number:>5}  {observed.seconds:>7.2f} s {observed.cpu:>6.2f} s  {quiet.seconds:>7.2f} s "
                  f"{quiet.cpu:>6.2f} s  {observed.seconds / quiet.seconds:>6.2f} {observed.cpu / quiet.cpu:>6.2f}",
                  flush=True)
        seconds = statistics.median(observed.seconds / quiet.seconds for observed, quiet in pairs)
        cpu = statistics.median(observed.cpu / quiet.cpu for observed, quiet in pairs)
        print(f"median ratio to --quiet: time {seconds:.2f}, CPU {cpu:.2f}")
        return {
            "files": count, "time_ratio": seconds, "cpu_ratio": cpu,
            "observed": [dataclasses.asdict(observed) for observed, _ in pairs],
            "quiet": [dataclasses.asdict(quiet) for _, quiet in pairs],
        }

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
        status, usage = execute(command, self.log, environment)
        # The status request itself is counted too.
        requests = self.nginx.requests() - before - 1
        received = self.nginx.received()
        if status != 0 or requests != count or received != count:
            raise Wrong(f"{command[0]} exited with {status}; expected {count} files, nginx received "
                        f"{requests} requests and holds {received} files\n{tail(self.log)}")
        return Run(usage.seconds, usage.cpu, usage.peak, count)

    def series(self, title: str, root: pathlib.Path, count: int, runs: int, sync_delay: str = "") -> dict:
        print(f"\n{title}: {count} PUTs of 1 KiB, {CONNECTIONS} connections")
        print(f"{'':>5}  {'ferry':>9} {'CPU':>8}  {'curl -Z':>9} {'CPU':>8}  {'rate':>6} {'CPU':>6}")
        config = self.write_curl_config(root)
        pairs = []
        for number in range(1, runs + 1):
            # The order alternates because the first client warms caches from which the second might profit.
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
                # Wait until requests in flight have arrived.
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
                            + tail(self.log))
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

        The commands run with the files present, and again without them.
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
        status, usage = execute(command, self.log, environment, subprocess.DEVNULL)
        if status != 0:
            raise Wrong(f"{command[0]} exited with {status}\n{tail(self.log)}")
        return {"seconds": usage.seconds, "user": usage.user, "cpu": usage.cpu, "peak": usage.peak}

    def memory(self, few: int, many: int) -> dict:
        small = self.run_ferry(self.make_files(few), few).peak
        large = self.run_ferry(self.work / f"files-{many}", many).peak
        growth = (large - small) / (many - few)
        print(f"\nmemory: {small / 1e6:.1f} MB for {few} files, {large / 1e6:.1f} MB for {many}: "
              f"{growth:.0f} bytes per file")
        return {"peak_few": small, "peak_many": large, "bytes_per_file": growth}
