"""Kills uploads of a large file repeatedly, and measures how many bytes each protocol sends again."""

import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import urllib.request

from measure import TOP, Wrong, tail
from rows import Rows
from s3 import BUCKET, CREDENTIALS, S3Server, digest, write_large

CHUNK = 8 << 20
RECEIVE_BUFFER = 1 << 18  # as in upload_server.py
RATE = 50_000_000  # bytes per second, so that the socket buffers are full when a kill comes


@dataclasses.dataclass
class Protocol:
    """A protocol and its settings in a manifest."""

    name: str
    steps: str
    chunk: int | None = CHUNK  # bytes of a part
    parallel: int = 1  # parts that are sent at the same time

    @property
    def title(self) -> str:
        return f"{self.name}, " + (f"parts of {self.chunk >> 20} MiB" if self.chunk else "one request")

    def bound(self) -> int:
        """The largest number of bytes that ferry may send again after one kill."""
        return self.parallel * (self.chunk or socket_buffers())


CONTENT_RANGE = """
    allocate:
      request: { url: "URL/content_range", headers: { X-Upload-Content-Length: "${file.size}" } }
      capture: { session: { header: Location, secret: true } }
    transfer: { protocol: content_range, chunk_size: 8MiB, request: { url: "${allocate.session}" } }"""
TUS = """
    transfer: { protocol: tus, CHUNK request: { url: URL/tus } }"""
RESUMABLE = """
    transfer: { protocol: resumable, CHUNK request: { url: URL/resumable, method: PUT } }"""
S3_MULTIPART = """
    transfer: { protocol: s3_multipart, part_size: 8MiB, parallel_parts: 4, request: { url: "URL/BUCKET/${file.path}" } }"""
CHUNKED = "chunk_size: 8MiB,"

PROTOCOLS = [
    Protocol("content_range", CONTENT_RANGE),
    Protocol("tus", TUS.replace("CHUNK", CHUNKED)),
    Protocol("tus", TUS.replace("CHUNK", ""), chunk=None),
    Protocol("resumable", RESUMABLE.replace("CHUNK", CHUNKED)),
    Protocol("resumable", RESUMABLE.replace("CHUNK", ""), chunk=None),
    Protocol("s3_multipart", S3_MULTIPART.replace("BUCKET", BUCKET), parallel=4),
]

MANIFEST = """version: 1
name: bench-kills
sessions: { kills: { kind: background, SIGN } }
uploads:
  files:
    session: kills
    files: { root: "ROOT" }
    retry: { initial: 50ms, max: 1s }"""


class UploadServer:
    """upload_server.py, which counts the bytes of files that it receives. It relays S3 requests to an S3 server."""

    def __init__(self, upstream: int | None) -> None:
        command = [sys.executable, "-u", TOP / "Benchmarks/upload_server.py", str(RATE)]
        self.process = subprocess.Popen(
            command if upstream is None else [*command, str(upstream)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().split()[1]}"

    def log(self) -> dict:
        """The server's log, read when no more bytes arrive over the connections that a kill has closed."""
        while True:
            log = self.read()
            time.sleep(0.1)
            if self.read()["received"] == log["received"]:
                return log

    def read(self) -> dict:
        with urllib.request.urlopen(f"{self.url}/log") as response:
            return json.load(response)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclasses.dataclass
class Outcome:
    """An upload that has completed."""

    kills: int
    received: int  # bytes of the file, at the server
    interrupted: int  # requests whose bodies the server received only in part
    is_equal: bool


class Kills:
    def __init__(self, ferry: pathlib.Path, work: pathlib.Path, seed: int, size: int, rows: Rows) -> None:
        self.ferry, self.work, self.seed, self.size, self.rows = ferry, work, seed, size, rows
        self.log, self.state, self.manifest = work / "client.log", work / "state", work / "kills.yaml"

    def measure(self, kills: int) -> list[dict]:
        print(f"\nresume-kills: {self.size >> 20:,} MiB at {RATE / 1e6:.0f} MB/s, {kills} times SIGKILL at random moments, seed {self.seed}")
        root = write_large(self.work / "kills", self.size)
        sha256 = digest(root / "large.bin")
        results = [self.protocol(protocol, root, sha256, kills) for protocol in PROTOCOLS]
        if any(not result["is_equal"] or result["sent_again"] > result["bound"] for result in results):
            raise Wrong("an upload has another SHA-256, or sent more again than its bound")
        return results

    def protocol(self, protocol: Protocol, root: pathlib.Path, sha256: str, kills: int) -> dict:
        generator = random.Random(f"{self.seed} {protocol.title}")
        outcomes: list[Outcome] = []
        # On average, the delays add up to three quarters of the time that the upload takes without kills.
        # A kill counts only if ferry was running. If an upload completes before its last kill, another upload follows.
        while (rest := kills - sum(outcome.kills for outcome in outcomes)) > 0:
            delays = [generator.uniform(0, 1.5 * self.size / RATE / kills) for _ in range(rest)]
            outcomes.append(self.upload(protocol, root, sha256, delays))
        result = {
            "protocol": protocol.name, "chunk": protocol.chunk, "kills": kills, "uploads": len(outcomes),
            "received": sum(outcome.received for outcome in outcomes), "bound": kills * protocol.bound(),
            "interrupted": sum(outcome.interrupted for outcome in outcomes),
            "is_equal": all(outcome.is_equal for outcome in outcomes),
        }
        again = result["sent_again"] = result["received"] - len(outcomes) * self.size
        print(f"{protocol.title:>29}: {kills} kills in {len(outcomes)} upload{'s' if len(outcomes) > 1 else ''}, "
              f"{result['interrupted']} bodies interrupted, "
              f"{again / 1e6:.1f} MB sent again, {again / kills / 1e6:.2f} MB per kill "
              f"(at most {protocol.bound() / 1e6:.2f} MB{', EXCEEDED' if again > result['bound'] else ''}), "
              f"SHA-256 {'equal' if result['is_equal'] else 'DIFFERENT'}", flush=True)
        self.rows.add(f"sent again after each of {kills} kills, {protocol.title}", "bytes sent again",
                      [again / kills / 1e6], unit="MB", at_most=round(protocol.bound() / 1e6, 2))
        return result

    def upload(self, protocol: Protocol, root: pathlib.Path, sha256: str, delays: list[float]) -> Outcome:
        """Sends the file once, killing ferry after each of the delays."""
        shutil.rmtree(self.state, ignore_errors=True)
        is_s3 = protocol.name == "s3_multipart"
        s3 = S3Server() if is_s3 else None
        server = UploadServer(s3.port if s3 else None)
        try:
            text = (MANIFEST + protocol.steps).replace("URL", server.url).replace("ROOT", str(root))
            self.manifest.write_text(text.replace(", SIGN", ", sign: { aws_v4: {} }" if is_s3 else "") + "\n")
            kills = sum(self.is_killed(delay) for delay in delays)
            with self.start() as client:
                status = client.wait()
            log = server.log()
            if status != 0 or log["violations"]:
                raise Wrong(f"{protocol.title}: ferry exited with {status} after {kills} kills; "
                            f"violations: {log['violations']}\n{tail(self.log)}")
            if s3:
                digests = [digest(s3.bucket / "large.bin")] if s3.objects() == {"large.bin": self.size} else []
            else:
                digests = [upload["sha256"] for upload in log["uploads"] if upload["sha256"]]
            return Outcome(kills, log["received"], log["interrupted"], digests == [sha256])
        finally:
            server.stop()
            if s3:
                s3.stop()

    def is_killed(self, delay: float) -> bool:
        """Starts ferry, kills it after the delay, and returns whether it was still running."""
        with self.start() as client:
            try:
                client.wait(delay)
            except subprocess.TimeoutExpired:
                client.kill()
            return client.wait() == -9

    def start(self) -> subprocess.Popen:
        with open(self.log, "wb") as log:
            return subprocess.Popen(
                [self.ferry, "run", self.manifest, "--state", self.state, "--quiet"], env=os.environ | CREDENTIALS,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def socket_buffers() -> int:
    """The number of bytes that the buffers of both sockets of a connection can hold on this machine."""
    try:
        sending = int(pathlib.Path("/proc/sys/net/ipv4/tcp_wmem").read_text().split()[2])
    except OSError:
        sending = 4 << 20
    # The kernel doubles the size that upload_server.py sets (socket(7)).
    return sending + 2 * RECEIVE_BUFFER
