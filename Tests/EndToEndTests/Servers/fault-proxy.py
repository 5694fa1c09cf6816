"""An HTTP/1.1 proxy that injects faults between a client and a real server.

usage: fault-proxy.py SERVER_PORT FAULTS [OPTIONS]

FAULTS is JSON: a list of objects with `match` (a regular expression for `METHOD TARGET`), `number` (which match, counted
from 1; absent for each) or `times` (how many matches, from the first), and one of
  lost: true      the request is executed, and the connection closed instead of a response
  drop: BYTES     the connection is closed after this many bytes of the body, and the request is not executed
  status: STATUS  this status is the response, and the request is not executed
  delay: SECONDS  the request is executed after this time
  body: TEXT      the request is executed, and this is the body of the response, with status 200
  cut: BYTES      the server gets this many bytes of the body; then both connections are closed
  hold: BYTES     the server gets this many bytes of the body; then the proxy prints `held METHOD TARGET`, and continues
                  after a line on its standard input. With 0, the server does not get the request until then. If the
                  client closes its connection meanwhile, the connection to the server is closed
  revoke: BYTES   the server gets this many bytes of the body; then the credentials of the request are revoked, and it is
                  rejected. With 0, the server does not get the request
If several faults apply to a request, the first one is used, and the request does not count for the others.

Without a fault, and with the last three faults, the body is forwarded while it arrives, so that the server gets a part of
it if the client aborts the request.

OPTIONS is a JSON object:
  token: true     the proxy issues bearer tokens at /token, requires one in every other request, and does not forward it
  pause           seconds before a request that sends bytes is held, cut or rejected (default 0.1); in this time, the client
                  gets an interim response, and the server stores the bytes that it has received
  authorization   the value of Authorization that is forwarded instead
  credentials     a list of pairs of access key and secret key, one of which /token returns; the next one after a revocation

The response to a request with revoked credentials is 401 or, for an AWS signature, 403 with the error InvalidAccessKeyId.

The proxy prints `port PORT`, one line `METHOD TARGET BYTES` for each request when its body has arrived or the request was
aborted, and one line `response STATUS METHOD TARGET` for each response of the server. It exits when its standard input is
closed, or on SIGTERM.
"""

import asyncio
import json
import re
import socket
import sys

upstream, faults = int(sys.argv[1]), json.loads(sys.argv[2])
options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
matches = {}
issued, revoked = [], set()
releases = asyncio.Queue()
PIECE = 65536
# The time in seconds for which the proxy continues to read after an early response, because libcurl continues to send
# for a moment. Closing the connection immediately would reset it, and the response could be lost.
LINGER = 5


def fault_for(line):
    for index, fault in enumerate(faults):
        if not re.search(fault["match"], line):
            continue
        matches[index] = matches.get(index, 0) + 1
        if fault.get("number") in (None, matches[index]) and matches[index] <= fault.get("times", matches[index]):
            return fault
    return {}


def field(head, name):
    found = re.search(rb"\r\n" + name + rb": *([^\r]*)", head, re.I)
    return found.group(1).decode("latin-1") if found else None


def upstream_head(head):
    """The request line and header fields that are forwarded to the server."""
    line, _, rest = head.partition(b"\r\n")
    if options.get("token"):
        rest = re.sub(rb"(?im)^authorization:[^\r]*\r\n", b"", rest)
    if "authorization" in options:
        rest = b"Authorization: " + options["authorization"].encode() + b"\r\n" + rest
    return line + b"\r\nConnection: close\r\n" + rest


def credentials_of(head):
    """The credentials of a request: an access key, or the whole value of Authorization."""
    value = field(head, b"authorization") or ""
    found = re.search(r"Credential=([^/]+)/", value)
    return found.group(1) if found else value


def is_rejected(head):
    credentials = credentials_of(head)
    return credentials in revoked or (options.get("token", False) and credentials.removeprefix("Bearer ") not in issued)


def token():
    if "credentials" in options:
        access, secret = next(pair for pair in options["credentials"] if pair[0] not in revoked)
        return dict(access_key=access, secret_key=secret, expires_in=3600)
    issued.append(f"t{len(issued) + 1}")
    return dict(access_token=issued[-1], expires_in=3600)


class Exchange:
    """A request from a client, and its response."""

    def __init__(self, reader, writer, head):
        self.reader, self.writer, self.head = reader, writer, head
        self.line = head.split(b"\r\n", 1)[0].decode("latin-1").rsplit(" ", 1)[0]
        self.length = int(field(head, b"content-length") or 0)
        self.received = 0
        # Bytes of the body that arrived while the request was held.
        self.early = b""

    async def run(self):
        if self.line.endswith(" /token"):
            await self.reader.readexactly(self.length)
            print(self.line, self.length, flush=True)
            return self.respond(200, json.dumps(token()))
        if is_rejected(self.head):
            return await self.reject()
        fault = fault_for(self.line)
        if fault.keys() & {"lost", "drop", "status", "delay", "body"}:
            await self.whole(fault)
        else:
            await self.stream(fault)

    def respond(self, status, text="", fields=""):
        head = f"HTTP/1.1 {status} Fault\r\nContent-Length: {len(text)}\r\nConnection: close\r\n{fields}\r\n"
        self.writer.write((head + text).encode())

    async def reject(self):
        if not field(self.head, b"expect"):
            while await self.piece():
                pass
        print(self.line, self.received, flush=True)
        if "Credential=" in (field(self.head, b"authorization") or ""):
            error = "<Error><Code>InvalidAccessKeyId</Code><Message>revoked</Message></Error>"
            self.respond(403, error, "Content-Type: application/xml\r\n")
        else:
            self.respond(401, fields="WWW-Authenticate: Bearer\r\n")
        await self.linger()

    async def linger(self):
        """Reads and discards the rest of the body."""
        async def discard():
            await self.writer.drain()
            while await self.reader.read(PIECE):
                pass

        try:
            await asyncio.wait_for(discard(), LINGER)
        except (asyncio.TimeoutError, ConnectionError):
            pass

    async def piece(self, limit=PIECE):
        """The next bytes of the body; empty at its end. Raises ConnectionError if the client has aborted the request."""
        limit = min(limit, PIECE, self.length - self.received)
        if limit == 0:
            return b""
        piece, self.early = self.early[:limit], self.early[limit:]
        piece = piece or await self.reader.read(limit)
        if not piece:
            raise ConnectionError
        self.received += len(piece)
        return piece

    async def held(self):
        print("held", self.line, flush=True)
        release = asyncio.ensure_future(releases.get())
        try:
            while not release.done():
                read = asyncio.ensure_future(self.reader.read(PIECE))
                await asyncio.wait({release, read}, return_when=asyncio.FIRST_COMPLETED)
                if not read.done():
                    read.cancel()
                elif not read.result():
                    raise ConnectionError
                else:
                    self.early += read.result()
        finally:
            release.cancel()

    async def stream(self, fault):
        """Forwards the request and its response while they arrive."""
        if fault.get("hold") == 0:
            await self.held()
        if fault.get("revoke") == 0:
            revoked.add(credentials_of(self.head))
            return await self.reject()
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", upstream, limit=1 << 20)
        up_writer.write(upstream_head(self.head))
        relay = asyncio.ensure_future(self.relay(up_reader))
        try:
            limit = fault.get("cut", fault.get("hold") or fault.get("revoke"))
            while piece := await self.piece(PIECE if limit is None else limit - self.received or PIECE):
                await self.write(up_writer, piece)
                if limit is None or self.received < limit:
                    continue
                await asyncio.sleep(options.get("pause", 0.1))
                if "hold" in fault:
                    limit = None
                    await self.held()
                else:
                    break
            print(self.line, self.received, flush=True)
            if "cut" in fault or "revoke" in fault:
                relay.cancel()
                up_writer.close()
                if "revoke" in fault:
                    revoked.add(credentials_of(self.head))
                    await self.reject_early()
                return
            await relay
            await self.writer.drain()
        except ConnectionError:
            if self.received < self.length:
                print(self.line, self.received, flush=True)
            raise
        finally:
            relay.cancel()
            up_writer.close()

    async def write(self, up_writer, piece):
        if up_writer.is_closing():
            # The server has responded early. The rest of the body is read and discarded.
            return
        try:
            up_writer.write(piece)
            await up_writer.drain()
        except ConnectionError:
            pass

    async def reject_early(self):
        self.respond(401, fields="WWW-Authenticate: Bearer\r\n")
        await self.linger()

    async def relay(self, up_reader):
        """Forwards the responses of the server: interim ones and the final one, after which the connection ends."""
        while True:
            head = await up_reader.readuntil(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
            if status >= 200:
                break
            self.writer.write(head)
        line, _, rest = head.partition(b"\r\n")
        rest = re.sub(rb"(?im)^connection:[^\r]*\r\n", b"", rest)
        self.writer.write(line + b"\r\nConnection: close\r\n" + rest)
        print("response", status, self.line, flush=True)
        # Some servers keep the connection open although the request asks to close it.
        length = 0 if self.line.startswith("HEAD ") or status in (204, 304) else field(head, b"content-length")
        rest = float("inf") if length is None else int(length)
        while rest > 0 and (piece := await up_reader.read(min(rest, PIECE))):
            rest -= len(piece)
            self.writer.write(piece)
            await self.writer.drain()

    async def whole(self, fault):
        """Receives the whole body before the request is executed."""
        if re.search(rb"\r\nexpect: *100-continue", self.head, re.I):
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "drop" in fault:
            received = await self.reader.readexactly(min(fault["drop"], self.length))
            print(self.line, len(received), flush=True)
            return
        body = await self.reader.readexactly(self.length)
        print(self.line, len(body), flush=True)
        await asyncio.sleep(fault.get("delay", 0))
        if "status" in fault:
            return self.respond(fault["status"])
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", upstream)
        head = re.sub(rb"(?i)\r\nexpect:[^\r]*", b"", upstream_head(self.head))
        up_writer.write(head + body)
        await up_writer.drain()
        response = await up_reader.read(-1)
        up_writer.close()
        print("response", int((response.split(b" ", 2) + [b"0", b"0"])[1]), self.line, flush=True)
        if "body" in fault:
            text = fault["body"].encode()
            response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(text) + text
        if not fault.get("lost"):
            self.writer.write(response)
            await self.writer.drain()


async def serve(reader, writer):
    try:
        await Exchange(reader, writer, await reader.readuntil(b"\r\n\r\n")).run()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    listener = socket.socket()
    # With a large buffer, the client could send the whole file although the server has received only a part of it.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)
    listener.bind(("127.0.0.1", 0))
    server = await asyncio.start_server(serve, sock=listener, limit=1 << 17)
    print("port", listener.getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        releases.put_nowait(None)


asyncio.run(main())
