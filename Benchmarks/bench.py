#!/usr/bin/env python3
"""Compares ferry with `curl -Z`, s5cmd and rclone, and measures ferry's memory and how ferry resumes after a kill.

See Benchmarks/README.md.

usage: Benchmarks/bench.py [--only PART]... [--files N] [--runs N] [--ferry PATH] [--work DIR] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

from instructions import Instructions
from kills import Kills
from measure import TOP, Wrong, file_system
from nginx import Nginx
from puts import Puts
from s3 import S3

PARTS = ["curl", "observing", "memory", "resume", "instructions", "s3", "resume-kills"]


def main() -> int:
    options = argparse.ArgumentParser(
        description="Compares ferry with `curl -Z`, s5cmd and rclone, and measures its memory, resuming and opening.")
    options.add_argument("--only", action="append", choices=[*PARTS, "opening"], default=[],
                         help="measure only this part; may be repeated")
    options.add_argument("--files", type=int,
                         help="number of small files in the parts curl and memory (20,000) and s3 (5,000)")
    options.add_argument("--resume-files", type=int, default=100_000, help="number of files in the part resume")
    options.add_argument("--opening-items", type=int, default=1_000_000,
                         help="number of files in the part opening, which is measured only if it is named")
    options.add_argument("--runs", type=int, default=5, help="number of runs of each client in each series")
    options.add_argument("--kills", type=int, default=10, help="number of kills of each protocol in resume-kills")
    options.add_argument("--seed", type=int, help="seed of the moments of the kills; random by default")
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
    print(f"{os.cpu_count()} processors, journal on {kind}")

    figures = {}
    try:
        measure(given, given.only or PARTS, figures)
    except Wrong as wrong:
        print(f"bench: {wrong}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(given.work, ignore_errors=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


def measure(given: argparse.Namespace, parts: list[str], figures: dict) -> None:
    ferry, work = given.ferry.resolve(), given.work.resolve()
    if not {"curl", "observing", "memory", "resume", "opening"}.isdisjoint(parts):
        curl = subprocess.run(["curl", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
        print(f"curl {curl}")
        with contextlib.closing(Nginx()) as nginx:
            puts, files = Puts(ferry, work, nginx), given.files or 20_000
            if not {"curl", "observing", "memory"}.isdisjoint(parts):
                root = puts.make_files(files)
            if "curl" in parts:
                figures["series"] = [
                    puts.series("journal synced", root, files, given.runs),
                    puts.series("every sync slowed to 5 ms", root, files, given.runs, sync_delay="5ms"),
                ]
            if "observing" in parts:
                figures["observing"] = puts.observing(root, files, given.runs)
            if "memory" in parts:
                figures["memory"] = puts.memory(files // 10, files)
            if "resume" in parts:
                figures["resume"] = puts.resume(given.resume_files, given.runs)
            if "opening" in parts:
                figures["opening"] = puts.opening(given.opening_items, given.runs)
    if "instructions" in parts:
        with contextlib.closing(Nginx()) as nginx:
            figures["instructions"] = Instructions(ferry, work, nginx).measure()
    if "s3" in parts:
        figures["s3"] = S3(ferry, work).measure(given.files or 5_000, given.runs)
    if "resume-kills" in parts:
        seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
        figures["resume_kills"] = {"seed": seed, "protocols": Kills(ferry, work, seed).measure(given.kills)}


if __name__ == "__main__":
    sys.exit(main())
