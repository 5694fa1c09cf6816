#!/usr/bin/env python3
"""Compares ferry with curl, wrk, s5cmd, rclone and find, and measures its memory, its start and how it resumes.

See Benchmarks/README.md.

usage: Benchmarks/bench.py [--only PART]... [--quick] [--files N] [--runs N] [--ferry PATH] [--work DIR] [--json FILE] [--page]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import page
from commands import Commands
from http2 import HTTP2
from instructions import Instructions
from kills import Kills
from large import Large
from measure import TOP, Wrong, file_system
from nginx import Nginx
from puts import Puts
from rows import Rows
from s3 import S3
from scale import Scale

PARTS = ["version", "curl", "wrk", "commits", "http2", "observing", "memory", "resume", "plan", "first-request", "year",
         "hosts", "connections", "large", "instructions", "s3", "resume-kills"]


@dataclasses.dataclass
class Sizes:
    """The amount of work in each part."""

    files: int = 20_000
    objects: int = 5_000
    resume: int = 100_000
    listed: int = 1_000_000
    simulated: int = 100_000
    hosts: int = 10_000
    large: int = 4 << 30
    object: int = 1 << 30
    killed: int = 1 << 30

    @staticmethod
    def quick() -> "Sizes":
        """Enough to see that each part works. The figures mean little."""
        return Sizes(500, 100, 2_000, 10_000, 1_000, 100, 16 << 20, 32 << 20, 64 << 20)


def main() -> int:
    options = argparse.ArgumentParser(
        description="Compares ferry with curl, wrk, s5cmd, rclone and find, and measures its memory, start and resuming.")
    options.add_argument("--only", action="append", choices=[*PARTS, "opening", "build"], default=[],
                         help="measure only this part; may be repeated")
    options.add_argument("--quick", action="store_true",
                         help="little work, one run and two kills, which show whether the benchmark works")
    options.add_argument("--files", type=int,
                         help="number of small files in the parts curl, wrk, commits, http2 and memory (20,000) and s3 (5,000)")
    options.add_argument("--resume-files", type=int, help="number of files in the part resume (100,000)")
    options.add_argument("--opening-items", type=int, default=1_000_000,
                         help="number of files in the part opening, which is measured only if it is named")
    options.add_argument("--runs", type=int, help="number of runs of each client in each series (5)")
    options.add_argument("--kills", type=int, help="number of kills of each protocol in resume-kills (10)")
    options.add_argument("--seed", type=int, help="seed of the moments of the kills; random by default")
    options.add_argument("--ferry", type=pathlib.Path, default=TOP / ".build/release/ferry",
                         help="the program to measure")
    options.add_argument("--work", type=pathlib.Path, default=TOP / ".build/bench",
                         help="folder for files and journals; on a real disk")
    options.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    options.add_argument("--record", action="store_true", help="record the instructions for each request")
    options.add_argument("--gate", action="store_true",
                         help="fail if the instructions for each request are 5 percent above the recorded figure")
    options.add_argument("--page", action="store_true", help="write docs/performance.md and its chart")
    given = options.parse_args()
    if given.page and given.quick:
        options.error("--page needs the figures of a whole benchmark, without --quick")
    given.runs = given.runs or (1 if given.quick else 5)
    given.kills = given.kills or (2 if given.quick else 10)

    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    kind = file_system(given.work)
    if kind in ("tmpfs", "ramfs"):
        raise SystemExit(
            f"bench: {given.work} is in memory, where a sync costs nothing; set a folder on disk with --work DIR")
    print(f"{os.cpu_count()} processors, journal on {kind}")

    figures, rows = {}, Rows(judged=not given.quick)
    try:
        measure(given, given.only or PARTS, figures, rows)
    except Wrong as wrong:
        print(f"bench: {wrong}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(given.work, ignore_errors=True)
    if given.json:
        figures["rows"] = [dataclasses.asdict(row) for row in rows.all]
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    if given.page:
        page.write(rows.all, figures, shlex.join(["Benchmarks/bench.py", *sys.argv[1:]]))
    return 0


def measure(given: argparse.Namespace, parts: list[str], figures: dict, rows: Rows) -> None:
    ferry, work = given.ferry.resolve(), given.work.resolve()
    sizes, runs = Sizes.quick() if given.quick else Sizes(), given.runs
    files = given.files or sizes.files
    curl = subprocess.run(["curl", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    print(f"curl {curl}")
    if "version" in parts:
        Commands(ferry, work, rows).version(runs)
    if "build" in parts:
        Commands(ferry, work, rows).build()
    with contextlib.closing(Nginx()) as nginx:
        puts = Puts(ferry, work, nginx, rows)
        if "curl" in parts:
            figures["series"] = [
                puts.series("journal synced", puts.make_files(files), files, runs),
                puts.series("every sync slowed to 5 ms", puts.make_files(files), files, runs, sync_delay="5ms"),
            ]
        if "wrk" in parts:
            puts.wrk(puts.make_files(files), files, runs)
        if "commits" in parts:
            puts.commits(puts.make_files(files), files, runs)
        if "http2" in parts:
            figures["http2"] = HTTP2(puts).series(puts.make_files(files), files, runs)
        if "observing" in parts:
            figures["observing"] = puts.observing(puts.make_files(files), files, runs)
        if "memory" in parts:
            figures["memory"] = puts.memory(files // 10, files)
        if "resume" in parts:
            figures["resume"] = puts.resume(given.resume_files or sizes.resume, runs)
        if "plan" in parts:
            puts.plan(sizes.listed, runs)
        if "first-request" in parts:
            puts.first_request(sizes.listed, runs)
        if "year" in parts:
            Commands(ferry, work, rows).year(puts, sizes.simulated, runs)
        if "hosts" in parts:
            Scale(puts).hosts(sizes.hosts, runs)
        if "connections" in parts:
            Scale(puts).connections(puts.make_files(files), files, runs)
        if "opening" in parts:
            figures["opening"] = puts.opening(given.opening_items, runs)
        if "large" in parts:
            Large(ferry, work, nginx, rows).measure(sizes.large, runs)
    if "instructions" in parts:
        with contextlib.closing(Nginx()) as nginx:
            instructions = Instructions(ferry, work, nginx, rows)
            figures["instructions"] = instructions.measure()
            if not given.gate:
                each = figures["instructions"]["each_request"]
                figures["instructions"]["observed"] = instructions.observe(each)
                figures["instructions"]["curl"] = instructions.measure_curl(each)
            if given.page:
                instructions.draw()
            if given.record:
                instructions.record(figures["instructions"])
            if given.gate:
                instructions.compare(figures["instructions"])
    if "s3" in parts:
        figures["s3"] = S3(ferry, work, rows).measure(given.files or sizes.objects, sizes.object, runs)
    if "resume-kills" in parts:
        seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
        kills = Kills(ferry, work, seed, sizes.killed, rows)
        figures["resume_kills"] = {"seed": seed, "protocols": kills.measure(given.kills)}


if __name__ == "__main__":
    sys.exit(main())
