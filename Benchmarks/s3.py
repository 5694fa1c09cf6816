"""A comparison with s5cmd and rclone: many small objects, and one large one, sent to an S3 server."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from measure import CONNECTIONS, TOP, Usage, Wrong, execute, free_port, processor_time, tail, tool
from rows import Rows

ACCESS_KEY, SECRET_KEY, REGION, BUCKET = "benchmark", "benchmark-secret", "us-east-1", "bench"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": REGION}
PART_MIB, THRESHOLD_MIB = 8, 16
SMALL = 1 << 10
CLIENTS = ("ferry", "s5cmd", "rclone")
SMALL_GOALS = {"rate": {"at_least": 1.2}, "CPU": {"at_most": 0.5}}


class S3Server:
    """`rclone serve s3` with an empty bucket in memory. It checks the signature of every request."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ferry-bench.", dir="/dev/shm"))
        self.bucket = self.folder / "root" / BUCKET
        self.bucket.mkdir(parents=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with open(self.folder / "server.log", "wb") as log:
            self.process = subprocess.Popen(
                [tool("rclone"), "serve", "s3", "--addr", f"127.0.0.1:{self.port}", "--config", os.devnull,
                 "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", "--log-level", "ERROR", self.folder / "root"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    log = tail(self.folder / "server.log")
                    self.stop()
                    raise SystemExit(f"bench: rclone serve s3 did not start\n{log}")
                time.sleep(0.02)

    def objects(self) -> dict[str, int]:
        """The keys and sizes of all objects."""
        return {str(path.relative_to(self.bucket)): path.stat().st_size
                for path in self.bucket.rglob("*") if path.is_file()}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "S3Server":
        return self

    def __exit__(self, *_) -> None:
        self.stop()


@dataclasses.dataclass
class Run:
    """One run of a client, and the CPU time of the server during it."""

    usage: Usage
    server_cpu: float


class S3:
    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, rows: Rows) -> None:
        self.ferry, self.work, self.rows = ferry, work, rows
        self.log = work / "client.log"
        self.s5cmd, self.rclone = tool("s5cmd"), tool("rclone")

    def measure(self, files: int, size: int, runs: int) -> list[dict]:
        versions = [subprocess.run([self.s5cmd, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout,
                    subprocess.run([self.rclone, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout]
        s5cmd, rclone = versions[0].split("-")[0], versions[1].split()[1]
        print(f"\nS3: ferry, s5cmd {s5cmd} and rclone {rclone}, in turns; the server is rclone serve s3 {rclone}\n"
              f"at most {CONNECTIONS} connections, parts of {PART_MIB} MiB, signed payloads\n"
              "ferry: synced journal\n"
              "s5cmd, rclone: Content-MD5, no journal; rclone: the payloads of small objects are not signed")
        return [self.series(f"{files} objects of 1 KiB", write_small(self.work / "s3-small", files), files, runs),
                self.series(f"1 object of {size >> 20:,} MiB", write_large(self.work / "s3-large", size), 1, runs)]

    def series(self, title: str, root: pathlib.Path, files: int, runs: int) -> dict:
        print(f"\n{title}")
        print(f"{'':>3}" + "".join(f"  {name:>10} {'CPU':>7} {'peak':>7}" for name in CLIENTS))
        expected = {str(path.relative_to(root)): path.stat().st_size for path in root.rglob("*") if path.is_file()}
        amount, unit = (files, "/s") if files > 1 else (sum(expected.values()) / 1e6, " MB/s")
        rounds: list[dict[str, Run]] = []
        for number in range(runs):
            # A client might profit from caches that its predecessor has warmed, so each round starts with another client.
            first = number % len(CLIENTS)
            order = CLIENTS[first:] + CLIENTS[:first]
            done = {name: self.run(name, root, expected) for name in order}
            rounds.append(done)
            print(f"{number + 1:>3}" + "".join(
                f"  {f'{amount / done[name].usage.seconds:.0f}{unit}':>10} {done[name].usage.cpu:>5.2f} s"
                f" {done[name].usage.peak / 1e6:>4.0f} MB" for name in CLIENTS), flush=True)
        result = {"title": title, "files": files, "bytes": sum(expected.values()), "ratios": {}}
        for other in CLIENTS[1:]:
            ratios = {
                "rate": [done[other].usage.seconds / done["ferry"].usage.seconds for done in rounds],
                "CPU": [done["ferry"].usage.cpu / done[other].usage.cpu for done in rounds],
                "peak": [done["ferry"].usage.peak / done[other].usage.peak for done in rounds],
            }
            goals = SMALL_GOALS if files > 1 and other == "s5cmd" else {}
            for name, quantity in (("rate", "rate"), ("CPU", "CPU time"), ("peak", "peak memory")):
                self.rows.add(f"S3: {title}", quantity, ratios[name], peer=other, **goals.get(name, {}))
            result["ratios"][other] = ratios
        for name in CLIENTS:
            result[name] = [dataclasses.asdict(done[name]) for done in rounds]
        return result

    def run(self, client: str, root: pathlib.Path, expected: dict[str, int]) -> Run:
        """Runs one client against a new server, and fails unless the bucket then has exactly the expected objects."""
        with S3Server() as server:
            state = self.work / "state"
            shutil.rmtree(state, ignore_errors=True)
            # Writes that an earlier run left pending must not slow down this one.
            os.sync()
            before = processor_time(server.process.pid)
            status, usage = execute(self.command(client, root, server, state), self.log, self.environment(root, server))
            cpu = processor_time(server.process.pid) - before
            if status != 0:
                raise Wrong(f"{client} exited with {status}\n{tail(self.log)}")
            stored = server.objects()
            if stored != expected:
                raise Wrong(f"{client} exited with 0; the bucket has {len(stored)} objects, expected {len(expected)}; "
                            f"{len(stored.items() ^ expected.items())} differ\n{tail(self.log)}")
            for key in expected:
                if digest(root / key) != digest(server.bucket / key):
                    raise Wrong(f"{client} exited with 0, but {key} has other bytes")
            return Run(usage, cpu)

    def environment(self, root: pathlib.Path, server: S3Server) -> dict:
        return os.environ | CREDENTIALS | {
            "FERRY_BENCH_SERVER": f"{server.url}/{BUCKET}", "FERRY_BENCH_FILES": str(root)}

    def command(self, client: str, root: pathlib.Path, server: S3Server, state: pathlib.Path) -> list:
        if client == "ferry":
            return [self.ferry, "run", TOP / "jobs/bench-s3.yaml", "--state", state, "--quiet"]
        if client == "s5cmd":
            # With an endpoint that is not Amazon's, s5cmd puts the bucket into the path.
            return [self.s5cmd, "--endpoint-url", server.url, "--log", "error", "--numworkers", str(CONNECTIONS),
                    "cp", "--concurrency", str(CONNECTIONS), "--part-size", str(PART_MIB),
                    f"{root}/", f"s3://{BUCKET}/"]
        # Without these options, rclone lists the bucket first, and sends a HEAD request after the upload of every object.
        return [self.rclone, "copy", "--config", os.devnull, "--log-level", "ERROR",
                "--no-check-dest", "--no-traverse", "--s3-no-head", "--s3-no-check-bucket", "--s3-disable-checksum",
                "--transfers", str(CONNECTIONS), "--checkers", str(CONNECTIONS),
                "--s3-upload-concurrency", str(CONNECTIONS), "--s3-chunk-size", f"{PART_MIB}Mi",
                "--s3-upload-cutoff", f"{THRESHOLD_MIB}Mi", root,
                f":s3,provider=Rclone,env_auth=true,region={REGION},endpoint='{server.url}':{BUCKET}"]


def write_small(root: pathlib.Path, count: int) -> pathlib.Path:
    """A folder of `count` files of 1 KiB, 1,000 in each subfolder, with different contents."""
    for index in range(count):
        folder = root / f"{index // 1000:03}"
        if index % 1000 == 0:
            folder.mkdir(parents=True)
        (folder / f"{index:06}.bin").write_bytes(index.to_bytes(8, "little") * (SMALL // 8))
    return root


def write_large(root: pathlib.Path, size: int) -> pathlib.Path:
    """A folder with one file of `size` bytes, in which no two blocks are equal."""
    root.mkdir(parents=True)
    with open(root / "large.bin", "wb") as file:
        for index in range(size >> 20):
            file.write(hashlib.shake_128(index.to_bytes(8, "little")).digest(1 << 20))
    return root


def digest(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
