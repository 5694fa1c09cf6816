"""A strict server of tus 1.0.0, with faults.

usage: strict-tus-server.py FAULT [OPTION…]

FAULT is the body of a Python function of `number`, `offset` and `method`. It is called for each PATCH and HEAD of an
upload, with the number of the request among those of its method, and returns None or a pair:
  status, S    responds with S, and does not read the body into the upload
  gone, S      removes the upload, and responds with S to this and every later request
  drop, N      closes the connection after N bytes of the PATCH, which it keeps
  silent, 0    stores the PATCH, and closes the connection instead of responding
  lose, N      keeps only the first N bytes of the upload, and states this
  conflict, N  keeps only the first N bytes of the upload, and responds with 409
  corrupt, 0   the bytes of the PATCH arrive damaged: with a checksum, 460
  offset, T    states the Upload-Offset T
  slow, S      waits for S seconds before each 64 KiB
OPTION: relative, elsewhere (another port), or query (the URL has a query): the Location of a new upload;
  keep (DELETE is refused with 405), bodyless (the response to the creation is lost once), mute (no Upload-Length)

It prints `port N` and, on GET /log, what it has received; `violations` lists requests that the protocol forbids.
"""

import base64
import binascii
import hashlib
import http.server
import json
import re
import sys
import threading
import time

options = set(sys.argv[2:])
scope = {}
exec("def fault(number, offset, method):\n" + sys.argv[1], scope)
lock = threading.Lock()
uploads = []
state = dict(creations=0, patches=0, heads=0, deletes=0, tokens=0, violations=[], offsets=[], checksums=[])
VERSION = "1.0.0"
DIGITS = re.compile(r"[0-9]+\Z")
ALGORITHMS = {
    "sha1": lambda data: hashlib.sha1(data).digest(),
    "crc32": lambda data: binascii.crc32(data).to_bytes(4, "big"),
}


class Upload:
    def __init__(self, size, metadata):
        self.size, self.metadata = size, metadata
        self.data = bytearray()
        self.received = self.turn = 0
        self.gone = None
        self.deleted = False

    def entry(self):
        return dict(
            size=self.size, stored=len(self.data), received=self.received, metadata=self.metadata,
            deleted=self.deleted, sha256=hashlib.sha256(self.data).hexdigest())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, fields={}, body=b""):
        self.send_response_only(status, "Scripted")
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Tus-Resumable", VERSION)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, status, value):
        self.reply(status, {}, json.dumps(value).encode())

    def drop(self):
        self.close_connection = True
        try:
            self.connection.shutdown(2)
        except OSError:
            pass

    def skip(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def violates(self, text, status=400):
        """The request is one that the protocol forbids."""
        with lock:
            state["violations"].append("%s %s: %s" % (self.command, self.path, text))
        self.skip()
        self.reply(status, {"Tus-Version": VERSION} if status == 412 else {})
        return True

    def only(self, name):
        """The value of a field that must be there once, or the value of one that is absent."""
        values = self.headers.get_all(name) or []
        return values[0] if len(values) == 1 else None if not values else "several"

    def is_refused(self):
        """Checks what every request of the protocol must have."""
        if self.only("Tus-Resumable") != VERSION:
            return self.violates("Tus-Resumable: %s" % self.only("Tus-Resumable"), 412)
        if "Transfer-Encoding" in self.headers:
            return self.violates("a request without a length")
        if self.command != "PATCH":
            for name in ("Upload-Offset", "Upload-Checksum"):
                if name in self.headers:
                    return self.violates("a %s with %s" % (self.command, name))
            if int(self.headers.get("Content-Length") or 0) > 0:
                return self.violates("a %s with a body" % self.command)
            if "Content-Type" in self.headers:
                return self.violates("a %s with a Content-Type" % self.command)
        with lock:
            token = "Bearer t%d" % state["tokens"]
            if state["tokens"] == 0 or self.headers.get("Authorization") == token:
                return False
        self.skip()
        self.reply(401)
        return True

    def location(self, number):
        path = "/files/%d" % number + ("?key=a%20b&c" if "query" in options else "")
        if "relative" in options:
            return path
        if "elsewhere" in options:
            return "http://127.0.0.1:%d%s" % (other.server_port, path)
        return "http://%s%s" % (self.headers["Host"], path)

    def metadata(self):
        """The pairs of Upload-Metadata; None if it is malformed."""
        text = self.only("Upload-Metadata")
        pairs = {}
        for pair in [] if text is None else text.split(","):
            key, _, value = pair.strip(" ").partition(" ")
            if not key or not key.isascii() or key in pairs or " " in value:
                return None
            try:
                pairs[key] = base64.b64decode(value, validate=True).decode()
            except ValueError:
                return None
        return pairs

    def do_POST(self):
        if self.path == "/token":
            self.skip()
            with lock:
                state["tokens"] += 1
            return self.json(200, dict(access_token="t%d" % state["tokens"], expires_in=3600))
        if self.path == "/api/videos":
            # An API of its own, whose response has the URL of a tus upload.
            size = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["size"]
            with lock:
                uploads.append(Upload(int(size), {}))
                return self.json(200, dict(upload=dict(upload_link=self.location(len(uploads)))))
        if self.path != "/files":
            return self.violates("a creation at another URL", 404)
        if self.is_refused():
            return
        length, metadata = self.only("Upload-Length"), self.metadata()
        if not DIGITS.match(length or ""):
            return self.violates("Upload-Length: %s" % length)
        if metadata is None:
            return self.violates("Upload-Metadata: %s" % self.headers["Upload-Metadata"])
        self.skip()
        with lock:
            state["creations"] += 1
            uploads.append(Upload(int(length), metadata))
            number = len(uploads)
        if "bodyless" in options and number == 1:
            return self.drop()
        self.reply(201, {"Location": self.location(number)})

    def upload(self):
        """The upload of the request; None if it has been refused."""
        path, _, query = self.path.partition("?")
        if query != ("key=a%20b&c" if "query" in options else "") or not re.match(r"/files/[0-9]+\Z", path):
            self.violates("another URL", 404)
            return None
        if self.is_refused():
            return None
        upload = uploads[int(path.split("/")[2]) - 1]
        if upload.gone:
            self.skip()
            self.reply(upload.gone)
            return None
        # A new request ends the one before it, so that an offset that was stated does not change.
        with lock:
            upload.turn += 1
        return upload

    def do_GET(self):
        if self.path != "/log":
            return self.violates("a GET", 405)
        with lock:
            entries = [upload.entry() for upload in uploads]
            self.json(200, dict(uploads=entries, other="http://127.0.0.1:%d" % other.server_port, **state))

    def do_DELETE(self):
        upload = self.upload()
        if not upload:
            return
        with lock:
            state["deletes"] += 1
            if "keep" not in options:
                upload.deleted, upload.gone = True, 410
        self.reply(405 if "keep" in options else 204)

    def do_HEAD(self):
        upload = self.upload()
        if not upload:
            return
        with lock:
            state["heads"] += 1
            number = state["heads"]
        kind, value = scope["fault"](number, len(upload.data), "HEAD") or ("", 0)
        if self.has_failed(upload, kind, value):
            return
        fields = {"Upload-Offset": str(len(upload.data)), "Cache-Control": "no-store"}
        if kind == "offset":
            fields["Upload-Offset"] = value
        if "mute" not in options:
            fields["Upload-Length"] = str(upload.size)
        self.reply(200, fields)

    def has_failed(self, upload, kind, value):
        if kind == "gone":
            upload.gone = value
        if kind == "conflict":
            with lock:
                del upload.data[value:]
        if kind not in ("status", "gone", "conflict"):
            return False
        self.skip()
        self.reply(409 if kind == "conflict" else value)
        return True

    def do_PATCH(self):
        upload = self.upload()
        if not upload:
            return
        turn = upload.turn
        if self.only("Content-Type") != "application/offset+octet-stream":
            return self.violates("Content-Type: %s" % self.only("Content-Type"), 415)
        text, size = self.only("Upload-Offset"), self.only("Content-Length")
        if not DIGITS.match(text or "") or not DIGITS.match(size or ""):
            return self.violates("Upload-Offset: %s, Content-Length: %s" % (text, size))
        for name in ("Upload-Length", "Upload-Metadata", "Content-Range"):
            if name in self.headers:
                return self.violates("a PATCH with %s" % name)
        offset, rest = int(text), int(size)
        if offset + rest > upload.size or rest == 0:
            return self.violates("%d bytes at %d of %d" % (rest, offset, upload.size), 413)
        algorithm, _, expected = (self.only("Upload-Checksum") or "").partition(" ")
        if algorithm and algorithm not in ALGORITHMS:
            return self.violates("Upload-Checksum: %s" % self.headers["Upload-Checksum"])
        with lock:
            state["patches"] += 1
            number = state["patches"]
            state["offsets"].append(offset)
            state["checksums"].append(algorithm)
        kind, value = scope["fault"](number, offset, "PATCH") or ("", 0)
        if self.has_failed(upload, kind, value):
            return
        if offset != len(upload.data):
            self.skip()
            return self.reply(409)
        body = bytearray()
        while rest > 0:
            if kind == "drop" and len(body) >= value:
                return self.drop()
            if kind == "slow":
                time.sleep(value)
            limit = min(rest, 65536)
            piece = self.rfile.read1(min(limit, value - len(body)) if kind == "drop" else limit)
            if not piece:
                return self.drop()
            rest -= len(piece)
            body += piece
            with lock:
                upload.received += len(piece)
                # With a checksum, a part that is not complete is discarded.
                if turn == upload.turn and not algorithm:
                    upload.data += piece
        if algorithm:
            if kind == "corrupt":
                body[0] ^= 1
            if ALGORITHMS[algorithm](body) != base64.b64decode(expected, validate=True):
                return self.reply(460)
            with lock:
                if turn == upload.turn:
                    upload.data += body
        if kind == "silent":
            return self.drop()
        if kind == "lose":
            with lock:
                del upload.data[value:]
        self.reply(204, {"Upload-Offset": value if kind == "offset" else str(len(upload.data))})


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # A client that was killed.
    server.handle_error = lambda *_: None
    return server


main, other = serve(), serve()
threading.Thread(target=other.serve_forever, daemon=True).start()
print("port", main.server_port, flush=True)
main.serve_forever()
