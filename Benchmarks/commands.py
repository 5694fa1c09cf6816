"""Commands without a network: the start of the program, its size, its build, and the simulation of a year."""

import os
import pathlib
import subprocess

from measure import TOP, timed
from puts import Puts
from rows import Rows


class Commands:
    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, rows: Rows) -> None:
        self.ferry, self.work, self.rows = ferry, work, rows
        self.log = work / "client.log"

    def version(self, runs: int) -> None:
        """Compares `ferry --version` with `curl --version`; each value is the quotient of 20 starts of each."""
        ratios = []
        for _ in range(runs):
            seconds = {program: 0.0 for program in (self.ferry, "curl")}
            for _ in range(20):
                for program in seconds:
                    seconds[program] += timed([program, "--version"], self.log, dict(os.environ)).seconds
            ratios.append(seconds[self.ferry] / seconds["curl"])
        self.rows.add("`ferry --version`", "elapsed time", ratios, peer="`curl --version`", at_most=1.3)
        stripped = self.work / "stripped"
        subprocess.run(["strip", "-o", stripped, self.ferry], check=True)
        self.rows.add("size of the program, stripped", "size", [stripped.stat().st_size / 1e6], unit="MB",
                      at_most=60)

    def year(self, puts: Puts, items: int, runs: int) -> None:
        """Simulates a year of hourly launches under the policies of iOS."""
        environment = os.environ | {"FERRY_BENCH_FILES": str(puts.make_files(items))}
        command = [self.ferry, "plan", TOP / "jobs/bench-year.yaml", "--state", self.work / "no-state", "--simulate",
                   "--for", "365d", "--launches", "0 * * * *", "--network", "wired", "--bandwidth", "5MB",
                   "--format", "json"]
        runs_done = [timed(command, self.log, environment) for _ in range(runs)]
        work = f"a simulated year, {items:,} items, `profile: ios`"
        self.rows.add(work, "elapsed time", [one.seconds for one in runs_done], unit="s", at_most=5)
        self.rows.add(work, "peak memory", [one.peak / 1e6 for one in runs_done], unit="MB")

    def build(self) -> None:
        """Times the first release build of a fresh clone, without the download of its dependencies."""
        clone = self.work / "clone"
        subprocess.run(["git", "clone", "--quiet", TOP, clone], check=True)
        swift = ["swift", "package", "--package-path", clone]
        subprocess.run([*swift, "resolve"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = timed(["swift", "build", "--package-path", clone, "-c", "release", "--product", "ferry"], self.log,
                      dict(os.environ))
        self.rows.add("first release build of a fresh clone", "elapsed time", [usage.seconds], unit="s", at_most=300)
