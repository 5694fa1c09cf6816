"""A strict server for resumable uploads (draft-ietf-httpbis-resumable-upload), on plain sockets.

The only argument is a JSON object with these options of the server:

  version       the interop version that it supports (default 6)
  interim       when it sends 104: "early", "half" (of the body), "never", or "other" (early, with another version)
  ignore        whether it treats every upload as a plain request
  limit         the value of Upload-Limit
  slow          seconds to wait before each 64 KiB of a body
  replay        whether it repeats the response to a completed upload (default true)
  tokens        whether requests need the latest token from /token
  other         whether the URL of the upload resource uses the other name of this server
  faults        faults by the number of the request that sends bytes, from 1: [kind, value]
                drop N     closes the connection after N bytes of the body
                status S   responds with S after the body, which it discards
                silent     stores the bytes, completes the upload if this is its last part, and closes the connection
                gone       removes the upload, and responds with 404
                final S    completes the upload, and responds with S and Upload-Complete: ?1
                lag N      pretends to have N bytes more than the client knows: responds with 409 and a problem document
                reject     responds with 401 after half of the body, and invalidates the token
  refer         "challenge" or "redirect": assigns an upload resource to a request without credentials or with another target
                than /moved, and then responds with 401 or 307
  forget        whether it removes a completed upload immediately
  refuseDelete  whether it does not implement DELETE

The server checks every request, and lists violations of the protocol at /log.
"""
import asyncio, hashlib, json, re, sys

options = json.loads(sys.argv[1])
version = options.get("version", 6)
uploads, creations = {}, []
state = dict(sent=0, queries=0, deletes=0, tokens=0, plain=0, empty=0)
violations = []
PIECE = 65536


class Drop(Exception):
    pass


class Upload:
    def __init__(self, length, headers):
        self.data, self.received, self.length = bytearray(), 0, length
        self.complete, self.gone, self.writer, self.created = False, False, None, headers


def complain(text):
    violations.append(text)


def boolean(headers, name):
    value = headers.get(name)
    if value not in (None, "?0", "?1"):
        complain(f"{name}: {value}")
    return None if value is None else value == "?1"


def completeness(headers):
    """Whether the request completes the upload."""
    if version == 3:
        value = boolean(headers, "upload-incomplete")
        return None if value is None else not value
    return boolean(headers, "upload-complete")


def complete_field(value):
    if version == 3:
        return ("Upload-Incomplete", "?0" if value else "?1")
    return ("Upload-Complete", "?1" if value else "?0")


def integer(headers, name):
    value = headers.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"\d{1,15}", value):
        complain(f"{name}: {value}")
        return None
    return int(value)


class Connection:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def run(self):
        try:
            while True:
                head = await self.reader.readuntil(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                self.method, self.target, _ = lines[0].split(" ")
                self.headers = {}
                for line in lines[1:-2]:
                    name, _, value = line.partition(":")
                    if name.lower() in self.headers:
                        complain(f"{name} occurs twice")
                    self.headers[name.lower()] = value.strip()
                self.rest = int(self.headers.get("content-length", 0))
                if "transfer-encoding" in self.headers:
                    complain("Transfer-Encoding")
                await self.handle()
                if self.rest:
                    raise Drop
        except (Drop, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writer.transport.abort() if getattr(self, "aborts", False) else self.writer.close()

    async def send(self, status, fields=(), body=b"", reason="Scripted"):
        lines = [f"HTTP/1.1 {status} {reason}"] + [f"{name}: {value}" for name, value in fields]
        if status >= 200 and status != 204:
            lines.append(f"Content-Length: {len(body)}")
        text = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.writer.write(text + (b"" if self.method == "HEAD" else body))
        await self.writer.drain()

    async def go_on(self):
        if self.headers.get("expect", "").lower() == "100-continue":
            await self.send(100)

    async def body(self, upload=None, limit=None, at_half=None):
        """Reads the body, or its first bytes, into an upload."""
        size, done = self.rest, 0
        limit = size if limit is None else min(limit, size)
        while done < limit:
            if options.get("slow"):
                await asyncio.sleep(options["slow"])
            piece = await self.reader.read(min(limit - done, PIECE))
            if not piece:
                raise Drop
            done += len(piece)
            self.rest -= len(piece)
            if upload is not None:
                if upload.writer is not self.writer:
                    raise Drop
                upload.data += piece
                upload.received += len(piece)
            if at_half and done * 2 >= size:
                await at_half()
                at_half = None
        if at_half:
            await at_half()

    async def handle(self):
        if self.target == "/log":
            entries = [
                dict(size=len(u.data), received=u.received, complete=u.complete, gone=u.gone,
                     sha256=hashlib.sha256(u.data).hexdigest())
                for u in uploads.values()
            ]
            log = dict(uploads=entries, violations=violations, creations=creations, **state)
            return await self.send(200, (("Content-Type", "application/json"),), json.dumps(log).encode())
        if self.target == "/token":
            await self.body()
            state["tokens"] += 1
            token = dict(access_token=f"t{state['tokens']}", expires_in=3600)
            return await self.send(200, (("Content-Type", "application/json"),), json.dumps(token).encode())
        if options.get("tokens") and self.headers.get("authorization") != f"Bearer t{state['tokens']}":
            # Half of the body is read first, so that the client is still sending when it gets the response.
            await self.go_on()
            await self.body(limit=self.rest // 2)
            return await self.send(401)
        if self.target.startswith("/uploads/"):
            return await self.resource()
        if self.target.startswith("/commit"):
            await self.body()
            return await self.send(200)
        missed = {"challenge": "authorization" not in self.headers, "redirect": self.target != "/moved"}
        if missed.get(options.get("refer")):
            return await self.refer(options["refer"])
        return await self.create()

    async def refer(self, kind):
        """Stores half of the body, although the request will not be executed."""
        upload, key = Upload(integer(self.headers, "upload-length"), self.headers), str(len(uploads) + 1)
        uploads[key] = upload
        upload.writer = self.writer
        fields = self.fields(upload, key) + [("Upload-Draft-Interop-Version", version)]
        await self.send(104, fields, reason="Upload Resumption Supported")
        await self.go_on()
        await self.body(upload, self.rest // 2)
        await self.body()
        if kind == "challenge":
            return await self.send(401, [("WWW-Authenticate", 'Basic realm="uploads"')])
        return await self.send(307, [("Location", "/moved")])

    def fault(self):
        state["sent"] += 1
        kind, value = (options.get("faults", {}).get(str(state["sent"])) or ["", 0])
        return kind, value

    def fields(self, upload, key):
        host = self.headers["host"]
        if options.get("other"):
            host = host.replace("127.0.0.1", "localhost")
        fields = [("Location", f"http://{host}/uploads/{key}" if options.get("other") else f"/uploads/{key}")]
        if options.get("limit"):
            fields.append(("Upload-Limit", options["limit"]))
        return fields

    async def create(self):
        kind, value = self.fault()
        complete, length = completeness(self.headers), integer(self.headers, "upload-length")
        if complete is None:
            complain("the first request has no Upload-Complete")
        if length is None:
            complain("the first request has no Upload-Length")
        if "upload-offset" in self.headers:
            complain("the first request has an Upload-Offset")
        if complete != (self.rest == length):
            complain(f"Upload-Complete is {complete}, but {self.rest} of {length} bytes are sent")
        creations.append(dict(method=self.method, target=self.target, size=self.rest, headers=self.headers))
        upload, key = Upload(length, self.headers), str(len(uploads) + 1)
        uploads[key] = upload
        upload.writer = self.writer
        fits = str(version) == self.headers.get("upload-draft-interop-version")
        if options.get("ignore") or not fits:
            state["plain"] += 1
            await self.go_on()
            if kind == "drop":
                await self.body(upload, value)
                self.aborts = True
                raise Drop
            await self.body(upload)
            upload.complete = True
            if kind == "silent":
                self.aborts = True
                raise Drop
            return await self.send(value if kind == "status" else 201, (("Location", f"/made/{key}"),), b"made")
        mode = options.get("interim", "early")

        async def interim():
            stated = version + 1 if mode == "other" else version
            fields = self.fields(upload, key) + [("Upload-Draft-Interop-Version", stated)]
            await self.send(104, fields, reason="Upload Resumption Supported")

        if mode in ("early", "other"):
            await interim()
        await self.go_on()
        await self.store(upload, key, complete, kind, value, interim if mode == "half" else None)

    async def resource(self):
        key = self.target.split("/")[2]
        upload = uploads.get(key)
        if self.headers.get("upload-draft-interop-version") != str(version):
            complain(f"{self.method} states the interop version {self.headers.get('upload-draft-interop-version')}")
        for name in ("content-disposition", "content-encoding", "upload-length"):
            if name in self.headers:
                complain(f"{self.method} of an upload has {name}")
        if upload is None or upload.gone:
            await self.go_on()
            await self.body()
            return await self.send(404)
        if upload.writer not in (None, self.writer):
            # A new request ends the previous one, so that an offset does not change after the server has reported it.
            upload.writer.transport.abort()
        upload.writer = self.writer
        if self.method == "HEAD":
            state["queries"] += 1
            if self.rest or "content-type" in self.headers:
                complain("HEAD has a body")
            fields = [("Upload-Offset", len(upload.data)), complete_field(upload.complete),
                      ("Upload-Length", upload.length), ("Cache-Control", "no-store")]
            if options.get("limit"):
                fields.append(("Upload-Limit", options["limit"]))
            return await self.send(204, fields)
        if self.method == "DELETE":
            state["deletes"] += 1
            if self.rest or "content-type" in self.headers:
                complain("DELETE has a body")
            if options.get("refuseDelete"):
                return await self.send(405)
            if upload.complete:
                complain("a completed upload is canceled")
            upload.gone = True
            return await self.send(204)
        if self.method != "PATCH":
            complain(f"{self.method} of an upload")
            return await self.send(405)
        kind, value = self.fault()
        if version >= 6 and self.headers.get("content-type") != "application/partial-upload":
            complain(f"PATCH has the Content-Type {self.headers.get('content-type')}")
        complete, offset = completeness(self.headers), integer(self.headers, "upload-offset")
        if kind == "lag":
            upload.data += bytes(value)
        await self.go_on()
        if complete is None or offset is None:
            complain("PATCH lacks Upload-Complete or Upload-Offset")
            await self.body()
            return await self.send(400)
        if kind == "gone":
            upload.gone = True
            await self.body()
            return await self.send(404)
        if upload.complete:
            await self.body()
            state["empty"] += 1
            if options.get("replay", True) and offset == upload.length:
                return await self.send(201, (complete_field(True), ("X-Result", "made")), b"made")
            return await self.problem(400, "completed-upload", complete_field(False))
        if offset != len(upload.data):
            if kind != "lag":
                complain(f"PATCH states the offset {offset}, but the upload has {len(upload.data)} bytes")
            del upload.data[offset:]
            await self.body()
            return await self.problem(409, "mismatching-upload-offset", complete_field(False))
        if complete != (offset + self.rest == upload.length):
            complain(f"Upload-Complete is {complete} at {offset} + {self.rest} of {upload.length} bytes")
        await self.store(upload, key, complete, kind, value, None)

    async def problem(self, status, name, field):
        document = dict(type=f"https://iana.org/assignments/http-problem-types#{name}", title=name)
        fields = (("Content-Type", "application/problem+json"), field)
        return await self.send(status, fields, json.dumps(document).encode())

    async def store(self, upload, key, complete, kind, value, at_half):
        most = re.search(r"max-append-size=(\d+)", options.get("limit", ""))
        if most and self.method == "PATCH" and self.rest > int(most[1]):
            complain(f"{self.rest} bytes are sent, more than max-append-size")
        if kind == "drop":
            await self.body(upload, value, at_half)
            self.aborts = True
            raise Drop
        if kind == "status":
            await self.body()
            return await self.send(value)
        if kind == "reject":
            await self.body(upload, self.rest // 2, at_half)
            state["tokens"] += 1
            return await self.send(401)
        await self.body(upload, None, at_half)
        if kind == "final":
            upload.complete = True
            return await self.send(value, (complete_field(True),), b"final")
        if complete:
            upload.complete = True
            if options.get("forget"):
                upload.gone = True
            if kind == "silent":
                self.aborts = True
                raise Drop
            return await self.send(201, (complete_field(True), ("X-Result", "made"), ("Location", f"/made/{key}")), b"made")
        if kind == "silent":
            self.aborts = True
            raise Drop
        if self.method == "PATCH":
            return await self.send(204, (complete_field(False), ("Upload-Offset", len(upload.data))))
        await self.send(201, self.fields(upload, key) + [complete_field(False)])


async def main():
    async def serve(reader, writer):
        await Connection(reader, writer).run()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    try:
        # The other name of this server may be an IPv6 address.
        await asyncio.start_server(serve, "::1", port, limit=1 << 20)
    except OSError:
        pass
    print("port", port, flush=True)
    await server.serve_forever()


asyncio.run(main())
