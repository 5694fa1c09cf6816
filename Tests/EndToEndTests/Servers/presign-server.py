"""An API that issues presigned URLs and confirms uploads, and the S3 server to which the URLs lead.

usage: presign-server.py BUCKET HOLD

The S3 server is moto, and boto3 computes the URLs. Because moto does not check signatures in URLs, this script checks
them before it passes a request to moto.

POST /uploads with the name, size and SHA-256 of a file returns an ID and a URL. POST /uploads/ID/confirm compares the
object in the bucket with these values. It returns 409 if the upload has been confirmed before, and 422 if the object
differs. Both requests need the API's key. HOLD is `put` (the first PUT is held after half of its body), `confirm` (the
first confirmation is executed but gets no response), or `none`.

The script prints `port PORT` and `held`. GET /log returns the confirmed uploads. The script exits when its standard input
is closed.
"""

import datetime
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import urllib.parse

os.environ.update(AWS_ACCESS_KEY_ID="presign", AWS_SECRET_ACCESS_KEY="presign-secret", AWS_DEFAULT_REGION="us-east-1")

import boto3
from botocore.config import Config
from moto.moto_server import threaded_moto_server

bucket, held = sys.argv[1:3]
lock = threading.Lock()
uploads, confirmed = {}, []
state = dict(issued=0, puts=0, confirmations=0, repeated=0, refused=[])


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def problem(environ):
    """The reason why S3 rejects the request; None if the signature in its URL is valid.

    https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
    """
    path, _, query = environ["RAW_URI"].partition("?")
    if environ.get("HTTP_AUTHORIZATION"):
        return 400, "InvalidArgument"  # only one way of authentication is allowed
    pairs = dict(pair.partition("=")[::2] for pair in query.split("&"))
    given = pairs.pop("X-Amz-Signature", None)
    if given is None or environ["REQUEST_METHOD"] != "PUT":
        return 403, "AccessDenied"
    time, lifetime = pairs["X-Amz-Date"], int(pairs["X-Amz-Expires"])
    names = urllib.parse.unquote(pairs["X-Amz-SignedHeaders"]).split(";")
    headers = "".join(f"{name}:{environ['HTTP_' + name.upper().replace('-', '_')].strip()}\n" for name in names)
    query = "&".join(f"{name}={pairs[name]}" for name in sorted(pairs))
    canonical = "\n".join(["PUT", path, query, headers, ";".join(names), "UNSIGNED-PAYLOAD"])
    scope = urllib.parse.unquote(pairs["X-Amz-Credential"]).partition("/")[2]
    text = "\n".join([pairs["X-Amz-Algorithm"], time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4presign-secret"
    for part in scope.split("/"):
        key = digest(key, part)
    if digest(key, text).hex() != given:
        return 403, "SignatureDoesNotMatch"
    signed = datetime.datetime.strptime(time + "+0000", "%Y%m%dT%H%M%SZ%z")
    if datetime.datetime.now(datetime.timezone.utc) > signed + datetime.timedelta(seconds=lifetime):
        return 403, "AccessDenied"
    return None


application = threaded_moto_server.DomainDispatcherApplication.__call__


def checked(self, environ, start_response):
    # This script's own requests are signed in a header field.
    if environ.get("HTTP_AUTHORIZATION", "").startswith("AWS4-HMAC-SHA256 Credential=presign/"):
        return application(self, environ, start_response)
    found = problem(environ)
    if found:
        state["refused"].append(f"{environ['REQUEST_METHOD']} {found[1]}")
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        body = f"<?xml version='1.0'?><Error><Code>{found[1]}</Code></Error>".encode()
        start_response(f"{found[0]} Refused", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
        return [body]
    with lock:
        state["puts"] += 1
        is_held = held == "put" and state["puts"] == 1
    if is_held:
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]) // 2)
        hold()
    return application(self, environ, start_response)


def hold():
    print("held", flush=True)
    threading.Event().wait()


threaded_moto_server.DomainDispatcherApplication.__call__ = checked
moto = threaded_moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
moto.start()
s3 = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{moto.get_host_and_port()[1]}",
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
)
s3.create_bucket(Bucket=bucket)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response_only(status, "Presign")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, reason):
        state["refused"].append(f"{self.command} {reason}")
        self.reply(status, dict(error=reason))

    def do_GET(self):
        with lock:
            self.reply(200, dict(uploads=confirmed, **state))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != "Bearer presign-test":
            self.refuse(401, "unauthorized")
        elif self.path == "/uploads":
            self.issue(json.loads(body))
        else:
            self.confirm(self.path.split("/")[2])

    def issue(self, file):
        if set(file) != {"name", "size", "sha256"} or type(file["size"]) is not int or len(file["sha256"]) != 64:
            return self.refuse(400, "invalid")
        with lock:
            state["issued"] += 1
            name = f"u{state['issued']}"
            uploads[name] = dict(file, key=f"incoming/{name}", done=False)
        signed = s3.generate_presigned_url(
            "put_object", Params=dict(Bucket=bucket, Key=uploads[name]["key"]), ExpiresIn=900
        )
        self.reply(201, dict(id=name, url=signed, expires_in=900))

    def confirm(self, name):
        with lock:
            upload = uploads.get(name)
            if upload is None:
                return self.refuse(404, "unknown")
            if upload["done"]:
                state["repeated"] += 1
                return self.reply(409, dict(error="confirmed before"))
            try:
                data = s3.get_object(Bucket=bucket, Key=upload["key"])["Body"].read()
            except s3.exceptions.NoSuchKey:
                data = None
            if data is None or len(data) != upload["size"] or hashlib.sha256(data).hexdigest() != upload["sha256"]:
                return self.refuse(422, "the object is another")
            upload["done"] = True
            state["confirmations"] += 1
            confirmed.append(dict(name=upload["name"], sha256=upload["sha256"]))
            number = state["confirmations"]
        if held == "confirm" and number == 1:
            hold()
        self.reply(200, dict(state="confirmed"))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
# Suppresses error messages about clients that were killed.
server.handle_error = lambda *_: None
print("port", server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
# Exits even if a thread still holds a request.
os._exit(0)
