"""nginx as a server that stores and counts PUT requests."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

from measure import TOP, Wrong, free_port

SIZE = 1024  # bytes of each file


class Nginx:
    """nginx with its root in memory, on a free port."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ferry-bench.", dir="/dev/shm"))
        # The worker drops root's privileges and must be able to write here.
        self.folder.chmod(0o777)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        http2, self.hosts_port = free_port(), free_port()
        self.http2_url = f"https://127.0.0.1:{http2}"
        self.certificate = self.folder / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-out", self.certificate, "-keyout", self.folder / "key.pem"],
            check=True, stderr=subprocess.DEVNULL)
        text = (TOP / "Benchmarks/nginx.conf").read_text()
        text = text.replace("@DIR@", str(self.folder)).replace("@PORT@", str(self.port))
        text = text.replace("@HTTP2@", str(http2)).replace("@HOSTS@", str(self.hosts_port))
        (self.folder / "nginx.conf").write_text(text)
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if program is None:
            raise SystemExit("bench: nginx is not installed; run scripts/setup bench")
        self.process = subprocess.Popen(
            [program, "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"],
            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                self.requests()
                return
            except (OSError, Wrong):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.close()
                    raise SystemExit("bench: nginx did not start")
                time.sleep(0.02)

    def requests(self) -> int:
        """The number of requests that nginx has received, including this one."""
        return self.counts()[2]

    def connections(self) -> int:
        """The number of connections that nginx has accepted, including that of this request."""
        return self.counts()[0]

    def counts(self) -> tuple[int, ...]:
        """The accepted connections, the handled ones and the requests."""
        try:
            with urllib.request.urlopen(f"{self.url}/status") as answer:
                text = answer.read().decode()
        except OSError:
            if (status := self.process.poll()) is not None:
                raise Wrong(f"nginx exited with {status} during the benchmark") from None
            raise
        return tuple(map(int, re.search(r"requests\s+(\d+) (\d+) (\d+)", text).groups()))

    def fresh(self) -> None:
        """Empties the root."""
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        root.chmod(0o777)

    def received(self) -> int:
        """The number of complete files that nginx holds."""
        count = 0
        for folder, _, names in os.walk(self.folder / "root"):
            count += sum(1 for name in names if os.stat(os.path.join(folder, name)).st_size == SIZE)
        return count

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
