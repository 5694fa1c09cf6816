"""A strict tus 1.0.0 server that can inject faults.

usage: strict-tus-server.py FAULT [OPTION…]

FAULT is the body of a Python function of `number`, `offset` and `method`. The function is called for each PATCH and HEAD
of an upload, for each POST that creates an upload with bytes, and, with the method FINAL, for each POST that concatenates
partial uploads. `number` counts the requests of each method. The function returns None or a pair:
  status, S    responds with S, and does not read the body into the upload
  gone, S      removes the upload, and responds with S to this and every later request
  drop, N      keeps N bytes of the request, and then closes the connection
  silent, 0    stores the bytes, and closes the connection instead of responding
  lose, N      keeps only the first N bytes of the upload, and reports this offset
  conflict, N  keeps only the first N bytes of the upload, and responds with 409
  corrupt, 0   damages the bytes of the request: with a checksum, the response is 460
  offset, T    reports the Upload-Offset T
  slow, S      waits for S seconds before each 64 KiB
OPTION is one of
  relative, elsewhere (another port), query (the URL has a query): the form of the Location of a new upload
  keep      DELETE is rejected with 405
  bodyless  the response to the creation is lost once
  mute      responses have no Upload-Length
  empty     a POST with bytes creates an empty upload, and the response has no Upload-Offset
  ends=S    an upload expires, and is removed, S seconds after its creation
  lives=S   an upload expires, and is removed, S seconds after its creation or its latest part
  undated   Upload-Expires is not a date
  whole     Upload-Concat is ignored: the server does not implement the concatenation extension

The server prints `port N`. GET /log returns what it has received; `violations` lists requests that the protocol forbids.
"""

import base64
import binascii
import email.utils
import hashlib
import http.server
import json
import re
import sys
import threading
import time

options = set(sys.argv[2:])
values = dict(option.split("=") for option in options if "=" in option)
scope = {}
exec("def fault(number, offset, method):\n" + sys.argv[1], scope)
lock = threading.Lock()
uploads = []
state = dict(
    creations=0, patches=0, heads=0, deletes=0, tokens=0, violations=[], offsets=[], checksums=[], finals=0,
    concurrent=0, running=0)
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
        self.expires = None
        self.partial = False
        self.parts = []
        self.touch("ends" if "ends" in values else "lives")

    def touch(self, option):
        """Sets the expiry if the server has this option. An HTTP date has no fraction of a second."""
        if option in values:
            self.expires = int(time.time() + float(values[option]))

    def is_expired(self):
        return self.expires is not None and time.time() >= self.expires

    def expiry(self):
        if "undated" in options:
            return {"Upload-Expires": "tomorrow"}
        return {} if self.expires is None else {"Upload-Expires": email.utils.formatdate(self.expires, usegmt=True)}

    def entry(self):
        return dict(
            size=self.size, stored=len(self.data), received=self.received, metadata=self.metadata,
            deleted=self.deleted, partial=self.partial, parts=self.parts, sha256=hashlib.sha256(self.data).hexdigest())


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
        """Records that the protocol forbids the request, and rejects it."""
        with lock:
            state["violations"].append("%s %s: %s" % (self.command, self.path, text))
        self.skip()
        self.reply(status, {"Tus-Version": VERSION} if status == 412 else {})
        return True

    def only(self, name):
        """The value of a field that must not be repeated; None if it is absent."""
        values = self.headers.get_all(name) or []
        return values[0] if len(values) == 1 else None if not values else "several"

    def is_refused(self):
        """Checks what the protocol requires of every request. Returns whether the request was rejected."""
        if self.only("Tus-Resumable") != VERSION:
            return self.violates("Tus-Resumable: %s" % self.only("Tus-Resumable"), 412)
        if "Transfer-Encoding" in self.headers:
            return self.violates("a request without a length")
        if self.command != "PATCH" and not self.is_creation_with_bytes():
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

    def is_creation_with_bytes(self):
        return self.command == "POST" and int(self.headers.get("Content-Length") or 0) > 0

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
            # This request belongs to a separate API. Its response contains the URL of a tus upload.
            size = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["size"]
            with lock:
                uploads.append(Upload(int(size), {}))
                return self.json(200, dict(upload=dict(upload_link=self.location(len(uploads)))))
        if self.path != "/files":
            return self.violates("a creation at another URL", 404)
        if self.is_refused():
            return
        concatenation = None if "whole" in options else self.only("Upload-Concat")
        if concatenation is not None and concatenation != "partial":
            return self.concatenate(concatenation)
        length, metadata = self.only("Upload-Length"), self.metadata()
        if not DIGITS.match(length or ""):
            return self.violates("Upload-Length: %s" % length)
        if metadata is None:
            return self.violates("Upload-Metadata: %s" % self.headers["Upload-Metadata"])
        size = int(self.headers.get("Content-Length") or 0)
        if size > 0 and self.only("Content-Type") != "application/offset+octet-stream":
            return self.violates("Content-Type: %s" % self.only("Content-Type"), 415)
        if "Upload-Offset" in self.headers or "Content-Range" in self.headers:
            return self.violates("a creation with an offset")
        if size > int(length):
            return self.violates("%d bytes of %s" % (size, length), 413)
        with lock:
            state["creations"] += 1
            creation = state["creations"]
        kind, value = (scope["fault"](creation, 0, "POST") if size > 0 else None) or ("", 0)
        if kind == "status":
            self.skip()
            return self.reply(value)
        with lock:
            uploads.append(Upload(int(length), metadata))
            number, upload = len(uploads), uploads[-1]
        upload.partial = concatenation == "partial"
        if upload.partial and metadata:
            return self.violates("a partial upload with Upload-Metadata")
        if size > 0 and "empty" not in options:
            status = self.store(upload, 0, size, kind, value)
            if status is None:
                return
            if status == 460:
                upload.gone = 404
                return self.reply(460)
        else:
            self.skip()
        if kind == "silent" or "bodyless" in options and number == 1:
            return self.drop()
        fields = {"Location": self.location(number), **upload.expiry()}
        if size > 0 and "empty" not in options:
            fields["Upload-Offset"] = str(len(upload.data))
        self.reply(201, fields)

    def concatenate(self, text):
        """Creates the upload whose bytes are those of partial uploads, in their order."""
        kind, _, urls = text.partition(";")
        parts = [re.match(r"(?:http://[^/]*)?/files/([0-9]+)(?:\?key=a%20b&c)?\Z", url) for url in urls.split(" ")]
        if kind != "final" or not all(parts):
            return self.violates("Upload-Concat: %s" % text)
        for name in ("Upload-Length", "Upload-Defer-Length"):
            if name in self.headers:
                return self.violates("a concatenation with %s" % name)
        metadata = self.metadata()
        if metadata is None:
            return self.violates("Upload-Metadata: %s" % self.headers["Upload-Metadata"])
        with lock:
            state["finals"] += 1
            number = state["finals"]
        fault, value = scope["fault"](number, 0, "FINAL") or ("", 0)
        if fault == "status":
            self.skip()
            return self.reply(value)
        numbers = [int(part[1]) for part in parts]
        with lock:
            found = [uploads[number - 1] for number in numbers if number <= len(uploads)]
            if len(found) < len(parts) or any(upload.gone for upload in found):
                return self.reply(404)
            if any(not upload.partial or len(upload.data) < upload.size for upload in found):
                return self.violates("a concatenation of uploads that are not complete partial uploads")
            final = Upload(sum(upload.size for upload in found), metadata)
            final.data = bytearray(b"".join(upload.data for upload in found))
            final.parts = numbers
            uploads.append(final)
        self.skip()
        if fault == "silent":
            return self.drop()
        self.reply(201, {"Location": self.location(len(uploads))})

    def upload(self):
        """The upload of the request; None if the request has been rejected."""
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
        if upload.is_expired():
            # One second is allowed for a request that is in transit when the upload expires.
            if self.command != "DELETE" and time.time() >= upload.expires + 1:
                with lock:
                    state["violations"].append("%s %s: the upload has expired" % (self.command, self.path))
            self.skip()
            self.reply(410)
            return None
        # A new request ends the previous one, so that an offset does not change after the server has reported it.
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
        if upload.partial:
            fields["Upload-Concat"] = "partial"
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
        if self.only("Content-Type") != "application/offset+octet-stream":
            return self.violates("Content-Type: %s" % self.only("Content-Type"), 415)
        text, size = self.only("Upload-Offset"), self.only("Content-Length")
        if not DIGITS.match(text or "") or not DIGITS.match(size or ""):
            return self.violates("Upload-Offset: %s, Content-Length: %s" % (text, size))
        for name in ("Upload-Length", "Upload-Metadata", "Content-Range", "Upload-Concat"):
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
        with lock:
            state["running"] += 1
            state["concurrent"] = max(state["concurrent"], state["running"])
        try:
            status = self.store(upload, offset, rest, kind, value)
        finally:
            with lock:
                state["running"] -= 1
        if status == 460:
            return self.reply(460)
        if status is None:
            return
        if kind == "silent":
            return self.drop()
        if kind == "lose":
            with lock:
                del upload.data[value:]
        upload.touch("lives")
        stated = value if kind == "offset" else str(len(upload.data))
        self.reply(204, {"Upload-Offset": stated, **upload.expiry()})

    def store(self, upload, offset, rest, kind, value):
        """Stores the body of the request. Returns 204 or 460; None if the connection was closed."""
        turn = upload.turn
        algorithm, _, expected = (self.only("Upload-Checksum") or "").partition(" ")
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
                # If the part has a checksum, its bytes are stored only when it is complete.
                if turn == upload.turn and not algorithm:
                    upload.data += piece
        if algorithm:
            if kind == "corrupt":
                body[0] ^= 1
            if ALGORITHMS[algorithm](body) != base64.b64decode(expected, validate=True):
                return 460
            with lock:
                if turn == upload.turn:
                    upload.data += body
        return 204


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # Suppresses error messages about clients that were killed.
    server.handle_error = lambda *_: None
    return server


main, other = serve(), serve()
threading.Thread(target=other.serve_forever, daemon=True).start()
print("port", main.server_port, flush=True)
main.serve_forever()
