"""The user-mode instructions that ferry executes for each request, counted by valgrind, which noise does not affect."""

import collections
import pathlib
import re
import shutil
import subprocess

from measure import Wrong
from nginx import Nginx
from puts import Puts

# The difference of two runs excludes the start and the end of a run.
FEW, MANY = 500, 2_500

NAME = re.compile(r"(ob|cob)=\((\d+)\)(?: (.*))?")
COST = re.compile(r"[0-9+\-*]\S*(?: \S+)* (\d+)")


def by_object(profile: pathlib.Path) -> collections.Counter:
    """The instructions in each program file, from an output file of callgrind."""
    names: dict[str, str] = {}
    counts: collections.Counter = collections.Counter()
    current, is_call = "", False
    with open(profile, errors="replace") as file:
        for line in file:
            if name := NAME.fullmatch(line.rstrip("\n")):
                kind, number, text = name.groups()
                if text:
                    names[number] = pathlib.Path(text).name
                if kind == "ob":
                    current = number
            elif line.startswith("calls="):
                # The next line has the inclusive cost of the call, with that of the called functions.
                is_call = True
            elif cost := COST.fullmatch(line.rstrip("\n")):
                if not is_call:
                    counts[names.get(current, current)] += int(cost.group(1))
                is_call = False
    return counts


class Instructions:
    """Runs ferry under callgrind with few and with many files of 1 KiB."""

    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, nginx: Nginx) -> None:
        if shutil.which("valgrind") is None:
            raise SystemExit("bench: valgrind is not installed; run scripts/setup bench")
        self.work, self.nginx, self.puts = work, nginx, Puts(ferry, work, nginx)

    def measure(self) -> dict:
        few, many = self.count(FEW), self.count(MANY)
        requests = MANY - FEW
        each = {name: round((many[name] - few[name]) / requests) for name in many}
        total = round((many.total() - few.total()) / requests)
        start = few.total() - FEW * total
        print(f"user-mode instructions: {total:,} for each request, and {start / 1e6:.0f} million for the run")
        for name in sorted(each, key=each.get, reverse=True):
            if each[name] >= 1_000:
                print(f"  {name:28} {each[name]:>8,}")
        return {"each_request": total, "run": start, "by_object": each}

    def count(self, files: int) -> collections.Counter:
        root, profile, log = self.puts.make_files(files), self.work / f"callgrind.{files}", self.work / "valgrind.log"
        self.nginx.fresh()
        shutil.rmtree(self.puts.state, ignore_errors=True)
        with open(log, "wb") as file:
            status = subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *self.puts.command],
                env=self.puts.environment(root), stdin=subprocess.DEVNULL, stdout=file, stderr=file).returncode
        if status != 0 or self.nginx.received() != files:
            raise Wrong(f"ferry exited with {status} under valgrind\n{log.read_text(errors='replace')[-2000:]}")
        return by_object(profile)
