"""A server of resumable uploads that counts the bytes of files that it receives.

usage: upload_server.py BYTES_PER_SECOND [UPSTREAM_PORT]

The server prints `port N`, and reads at most BYTES_PER_SECOND bytes of files per second. Without UPSTREAM_PORT, it
implements as much as ferry needs of three protocols, each under its own path: `/content_range` (Google's form), `/tus`
(1.0.0) and `/resumable` (interop version 6). With UPSTREAM_PORT, it relays all requests to that port of 127.0.0.1, where
an S3 server listens, and counts the bodies of PUT requests.

`GET /log` returns JSON: `received`, the bytes of files in total; `interrupted`, the number of bodies that arrived only in
part; `violations`; and the `uploads`, with the SHA-256 of each complete upload.

A new request for an upload replaces an unfinished one, as on tusd. Bytes that still arrive over the older connection are
counted but not stored, so the client has to send them again. The server discards an interrupted part with Content-Range,
as Microsoft's servers do; the other protocols keep every byte.
"""

import hashlib
import json
import mmap
import re
import socket
import sys
import threading
import time

PIECE = RECEIVE_BUFFER = 1 << 18


class Closed(Exception):
    """The client has closed the connection, or the server must close it."""


class Upload:
    def __init__(self, size: int) -> None:
        # Creating anonymous memory is fast, because the kernel allocates its pages only when they are written.
        self.data, self.stored, self.turn = mmap.mmap(-1, size), 0, 0
        self.kept = 0  # bytes of parts that have arrived completely

    @property
    def is_complete(self) -> bool:
        return self.stored == len(self.data)

    def entry(self) -> dict:
        digest = hashlib.sha256(self.data).hexdigest() if self.is_complete else None
        return {"size": len(self.data), "stored": self.stored, "sha256": digest}


class Server:
    def __init__(self, rate: int, upstream: int | None) -> None:
        self.rate, self.upstream = rate, upstream
        self.lock = threading.Lock()
        self.received = self.interrupted = 0
        self.next = time.monotonic()  # when the rate allows more bytes
        self.uploads: list[Upload] = []
        self.violations: list[str] = []

    def serve(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        # With the default buffer of up to 6 MB, the kernel would still receive most of a part after the client is killed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        print("port", listener.getsockname()[1], flush=True)
        kind = Connection if self.upstream is None else Relay
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=kind(self, client).run, daemon=True).start()

    def add(self, count: int) -> None:
        """Counts bytes that have been received, and waits as the rate requires."""
        with self.lock:
            self.received += count
            now = time.monotonic()
            # Compensates for a sleep that took too long.
            self.next = max(self.next, now - 0.1) + count / self.rate
            wait = self.next - now
        if wait > 0:
            time.sleep(wait)

    def log(self) -> bytes:
        with self.lock:
            return json.dumps({
                "received": self.received, "interrupted": self.interrupted, "violations": self.violations,
                "uploads": [upload.entry() for upload in self.uploads]}).encode()


class Connection:
    """A client's connection, from which requests are read and executed."""

    def __init__(self, server: Server, client: socket.socket) -> None:
        self.server, self.client = server, client
        self.buffer = bytearray(PIECE)
        self.begin = self.end = 0  # the bytes in the buffer that have not been read

    def run(self) -> None:
        try:
            while True:
                head = self.head()
                lines = head.decode("latin-1").split("\r\n")
                self.method, self.target, _ = lines[0].split(" ")
                self.fields = {name.lower(): value.strip()
                               for name, _, value in (line.partition(":") for line in lines[1:] if line)}
                self.length = int(self.fields.get("content-length", 0))
                if self.target == "/log":
                    self.reply("200 OK", {}, self.server.log())
                else:
                    self.handle(head)
        except (Closed, OSError):
            pass
        finally:
            self.client.close()

    def fill(self) -> None:
        """Appends bytes from the socket to the unread bytes in the buffer."""
        if self.begin == self.end:
            self.begin = self.end = 0
        count = self.client.recv_into(memoryview(self.buffer)[self.end:])
        if count == 0:
            raise Closed
        self.end += count

    def head(self) -> bytes:
        while (index := self.buffer.find(b"\r\n\r\n", self.begin, self.end)) < 0:
            if self.begin:
                rest = bytes(self.buffer[self.begin:self.end])
                self.buffer[:len(rest)], self.begin, self.end = rest, 0, len(rest)
            self.fill()
        head = bytes(self.buffer[self.begin:index + 4])
        self.begin = index + 4
        return head

    def pieces(self, is_file: bool = True):
        """The pieces of the body as they arrive. If the body is file content, its bytes are counted."""
        rest = self.length
        while rest > 0:
            if self.begin == self.end:
                try:
                    self.fill()
                except (Closed, OSError):
                    with self.server.lock:
                        self.server.interrupted += 1
                    raise
            count = min(rest, self.end - self.begin)
            if is_file:
                self.server.add(count)
            yield memoryview(self.buffer)[self.begin:self.begin + count]
            self.begin += count
            rest -= count

    def reply(self, status: str, fields: dict, body: bytes = b"") -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
        if not status.startswith(("1", "204")):
            lines.append(f"Content-Length: {len(body)}")
        text = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.client.sendall(text + (b"" if self.method == "HEAD" else body))

    def violates(self, text: str) -> None:
        self.server.violations.append(f"{self.method} {self.target}: {text}")
        self.reply("400 Bad Request", {})
        raise Closed

    def create(self, size: int) -> tuple[Upload, str]:
        upload = Upload(size)
        with self.server.lock:
            self.server.uploads.append(upload)
            return upload, f"{self.target.rstrip('/')}/{len(self.server.uploads)}"

    def store(self, upload: Upload, offset: int) -> None:
        """Reads the body into the upload until another request replaces this one."""
        with self.server.lock:
            turn = upload.turn
            is_next, end = offset == upload.stored, offset + self.length
        if not is_next or end > len(upload.data):
            self.violates(f"{self.length} bytes at {offset}; stored are {upload.stored} of {len(upload.data)}")
        if self.fields.get("expect", "").lower() == "100-continue":
            self.reply("100 Continue", {})
        for piece in self.pieces():
            with self.server.lock:
                if turn == upload.turn:
                    upload.data[upload.stored:upload.stored + len(piece)] = piece
                    upload.stored += len(piece)
        with self.server.lock:
            if turn == upload.turn:
                upload.kept = upload.stored

    def handle(self, _: bytes) -> None:
        _, protocol, *rest = self.target.split("/")
        if not rest or not rest[0]:
            return getattr(self, f"create_{protocol}")()
        upload = self.server.uploads[int(rest[0]) - 1]
        with self.server.lock:
            upload.turn += 1
            if protocol == "content_range":
                upload.stored = upload.kept
        getattr(self, protocol)(upload)

    def create_content_range(self) -> None:
        # The body would describe the file; it is not file content.
        size = int(self.fields["x-upload-content-length"])
        if self.length:
            self.violates("a body")
        _, path = self.create(size)
        self.reply("200 OK", {"Location": path})

    def content_range(self, upload: Upload) -> None:
        match = re.fullmatch(r"bytes (?:\*|(\d+)-(\d+))/(\d+)", self.fields.get("content-range", ""))
        if self.method != "PUT" or not match or int(match[3]) != len(upload.data):
            self.violates(f"Content-Range: {self.fields.get('content-range')}")
        if match[1]:
            if int(match[2]) - int(match[1]) + 1 != self.length:
                self.violates(f"{self.length} bytes for {match[0]}")
            self.store(upload, int(match[1]))
        if upload.is_complete:
            return self.reply("200 OK", {})
        self.reply("308 Resume Incomplete", {"Range": f"bytes=0-{upload.stored - 1}"} if upload.stored else {})

    def create_tus(self) -> None:
        if self.fields.get("tus-resumable") != "1.0.0":
            self.violates(f"Tus-Resumable: {self.fields.get('tus-resumable')}")
        _, path = self.create(int(self.fields["upload-length"]))
        self.reply("201 Created", {"Tus-Resumable": "1.0.0", "Location": path})

    def tus(self, upload: Upload) -> None:
        if self.method == "PATCH":
            self.store(upload, int(self.fields["upload-offset"]))
        elif self.method != "HEAD":
            self.violates("method")
        status = "204 No Content" if self.method == "PATCH" else "200 OK"
        self.reply(status, {"Tus-Resumable": "1.0.0", "Upload-Offset": upload.stored, "Upload-Length": len(upload.data),
                            "Cache-Control": "no-store"})

    def create_resumable(self) -> None:
        upload, path = self.create(int(self.fields["upload-length"]))
        self.reply("104 Upload Resumption Supported", {"Upload-Draft-Interop-Version": 6, "Location": path})
        self.append(upload, 0, {"Location": path})

    def resumable(self, upload: Upload) -> None:
        if self.method == "HEAD":
            return self.reply("204 No Content", self.resumable_fields(upload) | {
                "Upload-Length": len(upload.data), "Cache-Control": "no-store"})
        if self.method != "PATCH":
            self.violates("method")
        self.append(upload, int(self.fields["upload-offset"]), {})

    def append(self, upload: Upload, offset: int, fields: dict) -> None:
        is_last = self.fields.get("upload-complete") == "?1"
        if is_last != (offset + self.length == len(upload.data)):
            self.violates(f"Upload-Complete: {self.fields.get('upload-complete')} at {offset} + {self.length}")
        self.store(upload, offset)
        self.reply("201 Created", fields | self.resumable_fields(upload))

    def resumable_fields(self, upload: Upload) -> dict:
        return {"Upload-Complete": "?1" if upload.is_complete else "?0", "Upload-Offset": upload.stored}


class Relay(Connection):
    """A connection that is relayed to the upstream server."""

    def __init__(self, server: Server, client: socket.socket) -> None:
        super().__init__(server, client)
        self.upstream: socket.socket | None = None

    def run(self) -> None:
        super().run()
        if self.upstream is not None:
            # Shows the upstream server that the client has closed the connection.
            self.upstream.shutdown(socket.SHUT_RDWR)

    def handle(self, head: bytes) -> None:
        if self.upstream is None:
            self.upstream = socket.create_connection(("127.0.0.1", self.server.upstream))
            threading.Thread(target=self.relay_responses, daemon=True).start()
        self.upstream.sendall(head)
        # The body of any other request, such as the list of parts that completes an upload, is not file content.
        for piece in self.pieces(is_file=self.method == "PUT"):
            self.upstream.sendall(piece)

    def relay_responses(self) -> None:
        try:
            while data := self.upstream.recv(PIECE):
                self.client.sendall(data)
            self.client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


Server(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None).serve()
