"""The user-mode instructions that ferry executes for each request, counted by valgrind."""

import collections
import json
import pathlib
import re
import shutil
import subprocess

import flame
from measure import TOP, Wrong
from nginx import Nginx
from puts import Puts
from rows import Rows

# The difference of two runs excludes the start and the end of a run.
FEW, MANY = 500, 2_500
RECORD = TOP / "Benchmarks/instructions.json"
GRAPH = TOP / "docs/images/instructions.svg"
TOLERANCE, COUNTS = 1.05, 3

NAME = re.compile(r"(ob|fn|cob|cfn)=\((\d+)\)(?: (.*))?")
COST = re.compile(r"[0-9+\-*]\S*(?: \S+)* (\d+)")
# callgrind joins a function and its callers with apostrophes.
CALLERS = "'"
DEPTH = 14

# What a program file of a system library is part of.
LIBRARIES = {"libcurl": "libcurl", "libc.so": "libc", "libcrypto": "libcrypto", "libssl": "libssl",
             "curl": "curl", "libsqlite3": "SQLite", "libnghttp2": "nghttp2", "libstdc++": "Swift runtime",
             "ld-linux": "dynamic linker", "libz": "zlib"}


Stacks = collections.Counter  # of tuples: the component, and the functions from the outermost to the innermost


def read(profile: pathlib.Path) -> Stacks:
    """The instructions of each function with its callers, from an output file of callgrind."""
    objects: dict[str, str] = {}
    functions: dict[str, str] = {}
    counts: Stacks = collections.Counter()
    file_name, function, is_call = "", "", False
    with open(profile, errors="replace") as file:
        for line in file:
            if name := NAME.fullmatch(line.rstrip("\n")):
                kind, number, text = name.groups()
                table = objects if kind.endswith("ob") else functions
                if text:
                    table[number] = pathlib.Path(text).name if table is objects else text
                if kind == "ob":
                    file_name = table[number]
                elif kind == "fn":
                    function = table[number]
            elif line.startswith("calls="):
                # The next line has the inclusive cost of the call, with that of the called functions.
                is_call = True
            elif cost := COST.fullmatch(line.rstrip("\n")):
                if not is_call:
                    # A number is not a function but the depth of a recursion.
                    stack = tuple(part for part in reversed(function.split(CALLERS)) if not part.isdigit())
                    counts[(component(file_name, stack[-1]), *stack)] += int(cost.group(1))
                is_call = False
    return counts


def component(file_name: str, symbol: str) -> str:
    """The module or library that a function belongs to."""
    for prefix, name in LIBRARIES.items():
        if file_name.startswith(prefix):
            return name
    if module := re.match(r"\$s(\d+)(\w+)", symbol):
        return module.group(2)[:int(module.group(1))]
    return "Swift's standard library" if symbol.startswith("$s") else "Swift runtime"


class Instructions:
    """Runs ferry under callgrind with few and with many files of 1 KiB."""

    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, nginx: Nginx, rows: Rows) -> None:
        if shutil.which("valgrind") is None:
            raise SystemExit("bench: valgrind is not installed; run scripts/setup bench")
        self.work, self.nginx, self.rows, self.puts = work, nginx, rows, Puts(ferry, work, nginx, rows)

    def measure(self) -> dict:
        few, many = self.count(FEW), self.count(MANY)
        each = by_component(few, many)
        total = sum(each.values())
        start = few.total() - FEW * total
        self.rows.add("PUTs of 1 KiB, each", "user-mode instructions", [total / 1e3], unit="thousand")
        self.rows.add("a run, without its requests", "user-mode instructions", [start / 1e6], unit="million")
        for name in sorted(each, key=each.get, reverse=True):
            if each[name] >= 500:
                print(f"  {name:28} {each[name]:>8,}")
        return {"each_request": total, "run": start, "by_component": each}

    def observe(self, quiet: int) -> int:
        """The instructions of a request with progress, events and a log.

        quiet -- the instructions of a request with --quiet
        """
        command = self.puts.observed_command
        few, many = self.count(FEW, command=command), self.count(MANY, command=command)
        each = round((many.total() - few.total()) / (MANY - FEW))
        print(f"  with progress, events and a log: {each:,}")
        self.rows.add("PUTs of 1 KiB with progress, events and a log, each", "user-mode instructions", [each / quiet],
                      peer="--quiet", at_most=1.05)
        return each

    def measure_curl(self, each_request: int) -> dict:
        """The instructions of curl for the same request, by component.

        each_request -- the instructions of ferry for a request
        """
        counts = []
        for files in (FEW, MANY):
            config = self.puts.write_curl_config(self.puts.make_files(files))
            counts.append(self.count(files, command=self.puts.curl_command(config)))
        each = by_component(*counts)
        total = sum(each.values())
        print(f"  curl: {total:,}, of which libcurl {each.get('libcurl', 0):,}, libc {each.get('libc', 0):,}")
        self.rows.add("PUTs of 1 KiB, each", "user-mode instructions", [each_request / total], peer="curl -Z")
        return each

    def count(self, files: int, *options: str, command: list | None = None) -> Stacks:
        root, profile, log = self.puts.make_files(files), self.work / f"callgrind.{files}", self.work / "valgrind.log"
        self.nginx.fresh()
        shutil.rmtree(self.puts.state, ignore_errors=True)
        with open(log, "wb") as file:
            status = subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *options,
                 *(command or self.puts.command)],
                env=self.puts.environment(root), stdin=subprocess.DEVNULL, stdout=file, stderr=file).returncode
        if status != 0 or self.nginx.received() != files:
            raise Wrong(f"the client exited with {status} under valgrind\n{log.read_text(errors='replace')[-2000:]}")
        return read(profile)

    def record(self, figures: dict) -> None:
        """Records the instructions of a request as the figure that later counts are compared with."""
        RECORD.write_text(json.dumps({"each_request": figures["each_request"]}, indent=2) + "\n")

    def compare(self, figures: dict) -> None:
        """Fails if a request takes more instructions than recorded.

        A count depends slightly on timing, because a turn of the loop that handles more events takes fewer instructions
        for each. The smallest of several counts decides.
        """
        recorded = json.loads(RECORD.read_text())["each_request"]
        counts = [figures["each_request"]]
        while min(counts) > recorded * TOLERANCE and len(counts) < COUNTS:
            counts.append(self.measure()["each_request"])
        print(f"instructions for each request: {min(counts):,}, recorded {recorded:,}")
        if min(counts) > recorded * TOLERANCE:
            raise Wrong(f"a request takes {min(counts) / recorded - 1:.1%} more instructions than {RECORD.name} records; "
                        "find the cause, or record the new figure with --record")

    def draw(self) -> None:
        """Writes the flame graph of a run with many files."""
        stacks = completed(self.count(MANY, f"--separate-callers={DEPTH}"))
        names = demangled({function for stack in stacks for function in stack})
        shown: Stacks = collections.Counter()
        for stack, cost in stacks.items():
            shown[tuple(names[function] for function in stack)] += cost
        title = f"User-mode instructions of a run with {MANY:,} PUTs of 1 KiB, by function and callers"
        GRAPH.write_text(flame.draw(shown, title))


def by_component(few: Stacks, many: Stacks) -> dict[str, int]:
    """The instructions of a request, by component."""
    each: collections.Counter = collections.Counter()
    for stacks, sign in ((many, 1), (few, -1)):
        for stack, cost in stacks.items():
            each[stack[0]] += sign * cost
    return {name: round(cost / (MANY - FEW)) for name, cost in each.items()}


def completed(stacks: Stacks) -> Stacks:
    """The stacks without their components, from the functions that nothing calls.

    callgrind records only the last callers of a function. The callers of the outermost of these are those from which
    most instructions are executed.
    """
    callers: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for (_, *stack), cost in stacks.items():
        for caller, function in zip(stack, stack[1:]):
            callers[function][caller] += cost
    whole: Stacks = collections.Counter()
    for (_, *stack), cost in stacks.items():
        known = set(stack)
        while caller := next((name for name, _ in callers[stack[0]].most_common() if name not in known), None):
            stack.insert(0, caller)
            known.add(caller)
        whole[tuple(stack)] += cost
    return whole


def demangled(symbols: set[str]) -> dict[str, str]:
    """Short names of functions, without modules and types of arguments."""
    order = sorted(symbols)
    done = subprocess.run(["swift", "demangle", "--simplified"], input="\n".join(order), stdout=subprocess.PIPE,
                          text=True, check=True).stdout.splitlines()
    return {symbol: re.sub(r"\(.*", "", name) for symbol, name in zip(order, done)}
