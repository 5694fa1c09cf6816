"""PUTs of small files to nginx: comparisons with `curl -Z` and wrk, memory, resuming, and opening a large journal."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time

from measure import CONNECTIONS, TOP, Wrong, execute, processor_time, tail, timed
from nginx import SIZE, Nginx
from rows import Rows

# wrk overwrites 20,000 files in turn; each body has the size of the files that ferry sends.
WRK_SCRIPT = """
local count = 0
wrk.method = "PUT"
wrk.body = string.rep("x", 1024)
request = function()
  count = (count + 1) % 20000
  return wrk.format(nil, string.format("/%03d/%06d.bin", count / 1000, count))
end
"""
WRK_SECONDS = 5


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
    """The parts of the benchmark that send small files to nginx."""

    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, nginx: Nginx, rows: Rows) -> None:
        self.ferry, self.work, self.nginx, self.rows = ferry, work, nginx, rows
        self.log = work / "client.log"

    def make_files(self, count: int, empty: bool = False) -> pathlib.Path:
        """A folder of `count` files, 1,000 in each subfolder. Each file has different content, or all are empty."""
        root = self.work / f"{'empty' if empty else 'files'}-{count}"
        if root.exists():
            return root
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
        work = f"{count:,} PUTs of 1 KiB with progress, events and a log"
        for quantity, key in (("elapsed time", "seconds"), ("CPU time", "cpu")):
            self.rows.add(work, quantity, [getattr(observed, key) / getattr(quiet, key) for observed, quiet in pairs],
                          peer="--quiet", at_most=1.05)
        return {
            "files": count,
            "observed": [dataclasses.asdict(observed) for observed, _ in pairs],
            "quiet": [dataclasses.asdict(quiet) for _, quiet in pairs],
        }

    def run_ferry(self, root: pathlib.Path, count: int, sync_delay: str = "", connections: int = CONNECTIONS) -> Run:
        shutil.rmtree(self.state, ignore_errors=True)
        environment = self.environment(root)
        if sync_delay:
            environment["FERRY_SYNC_DELAY"] = sync_delay
        return self.measure([*self.command, "--var", f"connections={connections}"], count, environment)

    def write_curl_config(self, root: pathlib.Path, with_commits: bool = False) -> pathlib.Path:
        """The PUT of each file; with commits, a POST before it and one after it, as in jobs/bench-commit.yaml."""
        config, server = self.work / "curl.config", self.nginx.url
        with open(config, "w") as file:
            for folder, names, files in os.walk(root):
                names.sort()
                for name in sorted(files):
                    path = pathlib.Path(folder, name)
                    put = f'upload-file = "{path}"\nurl = "{server}/{path.relative_to(root)}"\n'
                    if with_commits:
                        # Options apply only up to the next `next`.
                        if file.tell():
                            file.write("next\n")
                        file.write("next\n".join("silent\nshow-error\nfail\n" + request for request in [
                            f'data = "{{}}"\nurl = "{server}/allocate"\noutput = "/dev/null"\n', put,
                            f'data = "{{}}"\nurl = "{server}/commit"\noutput = "/dev/null"\n']))
                    else:
                        file.write(put)
        return config

    def run_curl(self, config: pathlib.Path, count: int, requests_each: int = 1, connections: int = CONNECTIONS) -> Run:
        return self.measure(self.curl_command(config, connections), count, dict(os.environ), requests_each)

    @staticmethod
    def curl_command(config: pathlib.Path, connections: int = CONNECTIONS) -> list:
        return ["curl", "--parallel", "--parallel-max", str(connections), "--silent", "--show-error", "--fail",
                "--config", config]

    def measure(self, command: list, count: int, environment: dict, requests_each: int = 1) -> Run:
        """Runs one client, and fails unless exactly `count` files arrived in exactly the expected number of requests."""
        self.nginx.fresh()
        # Writes that an earlier run left pending must not slow down this one.
        os.sync()
        before = self.nginx.requests()
        status, usage = execute(command, self.log, environment)
        # The status request itself is counted too.
        requests = self.nginx.requests() - before - 1
        received = self.nginx.received()
        if status != 0 or requests != count * requests_each or received != count:
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
        work = f"{count:,} PUTs of 1 KiB" + (", each sync of the journal 5 ms" if sync_delay else "")
        self.rows.compare(work, "curl -Z", pairs, rate=1.3, cpu=0.75)
        return {
            "title": title, "files": count,
            "ferry": [dataclasses.asdict(ferry) for ferry, _ in pairs],
            "curl": [dataclasses.asdict(curl) for _, curl in pairs],
        }

    def wrk(self, root: pathlib.Path, count: int, runs: int) -> None:
        """Compares the rate with that of wrk, which reads no files and keeps no record: about what nginx can take."""
        script = self.work / "put.lua"
        script.write_text(WRK_SCRIPT)
        command = ["wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{WRK_SECONDS}s",
                   "--script", script, self.nginx.url]
        ratios = []
        for number in range(runs):
            ours = self.run_ferry(root, count).rate if number % 2 == 0 else None
            self.nginx.fresh()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
            if "Non-2xx" in done or "Socket errors" in done:
                raise Wrong(f"wrk reports failed requests\n{done}")
            rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", done).group(1))
            ratios.append((ours or self.run_ferry(root, count).rate) / rate)
        self.rows.add(f"{count:,} PUTs of 1 KiB", "rate", ratios, peer="wrk", at_least=0.8)

    def commits(self, root: pathlib.Path, count: int, runs: int) -> None:
        """Compares three requests for each file with the same number of requests by curl, which does not order them."""
        command = [self.ferry, "run", TOP / "jobs/bench-commit.yaml", "--state", self.state, "--quiet"]
        config = self.write_curl_config(root, with_commits=True)
        pairs = []
        for number in range(runs):
            done = {}
            for client in (["ferry", "curl"] if number % 2 == 0 else ["curl", "ferry"]):
                if client == "ferry":
                    shutil.rmtree(self.state, ignore_errors=True)
                    done[client] = self.measure(command, count, self.environment(root), requests_each=3)
                else:
                    done[client] = self.run_curl(config, count, requests_each=3)
            pairs.append((done["ferry"], done["curl"]))
        self.rows.compare(f"{count:,} files, each with allocate, transfer and commit", "curl -Z", pairs, rate=1.0)

    def first_request(self, count: int, runs: int) -> None:
        """Times the first request of a run that must list many files. The run is then killed."""
        root, values = self.make_files(count, empty=True), []
        for _ in range(runs):
            shutil.rmtree(self.state, ignore_errors=True)
            self.nginx.fresh()
            before = self.nginx.requests()
            begin = time.monotonic()
            with open(self.log, "wb") as log:
                client = subprocess.Popen(self.command, env=self.environment(root), stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log)
                polls = 0
                while self.nginx.requests() - before - (polls := polls + 1) <= 0:
                    if client.poll() is not None:
                        raise Wrong(f"ferry exited with {client.returncode} and sent nothing\n{tail(self.log)}")
                    time.sleep(0.001)
                values.append(time.monotonic() - begin)
                client.kill()
                client.wait()
        self.rows.add(f"first request of a run with {count:,} files", "elapsed time", values, unit="s", at_most=0.2)

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
                while self.nginx.requests() - start - (polls := polls + 1) < count / 2:
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
        self.rows.add(f"first request after a kill, {count:,} files, half of them done", "elapsed time",
                      [one["first_request_seconds"] for one in results], unit="s", at_most=0.5)
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
        find = results["find"]
        for name in ("plan", "plan, files gone"):
            self.rows.add(f"ferry {name}, {count:,} delivered files in the journal", "elapsed time",
                          [ours["seconds"] / theirs["seconds"] for ours, theirs in zip(results[name], find)],
                          peer="find -printf")
        return {"items": count, "runs": results}

    def plan(self, count: int, runs: int) -> None:
        """Compares a plan of files that are all new with `find -printf`."""
        root = self.make_files(count, empty=True)
        environment = self.environment(root)
        shutil.rmtree(self.state, ignore_errors=True)
        commands = {"plan": [self.ferry, "plan", TOP / "jobs/bench-put.yaml", "--state", self.state],
                    "find": ["find", root, "-type", "f", "-printf", "%P %s %T@\\n"]}
        self.timed(commands["find"], environment)  # so that the kernel has the folders in its cache for both
        rounds = []
        for number in range(runs):
            order = ["plan", "find"] if number % 2 == 0 else ["find", "plan"]
            rounds.append({name: self.timed(commands[name], environment) for name in order})
        self.rows.add(f"ferry plan of {count:,} files", "elapsed time",
                      [one["plan"]["seconds"] / one["find"]["seconds"] for one in rounds],
                      peer="find -printf", at_most=1.5)
        self.rows.add(f"ferry plan of {count:,} files", "peak memory",
                      [one["plan"]["peak"] / 1e6 for one in rounds], unit="MB", at_most=200)

    def timed(self, command: list, environment: dict) -> dict:
        usage = timed(command, self.log, environment)
        return {"seconds": usage.seconds, "user": usage.user, "cpu": usage.cpu, "peak": usage.peak}

    def memory(self, few: int, many: int) -> dict:
        small = self.run_ferry(self.make_files(few), few).peak
        large = self.run_ferry(self.work / f"files-{many}", many).peak
        growth = (large - small) / (many - few)
        self.rows.add(f"memory of a run for each file ({few:,} to {many:,} files)", "peak memory", [growth], unit="bytes")
        return {"peak_few": small, "peak_many": large, "bytes_per_file": growth}
