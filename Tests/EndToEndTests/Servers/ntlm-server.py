"""A server that authenticates each connection with NTLM, by pyspnego, and stores bodies of PUT.

usage: ntlm-server.py FOLDER     (NTLM_USER_FILE names a file with a line DOMAIN:USER:PASSWORD)

It prints its port, and a line for each request: the status, the method, the path, the number of the connection and the
size of the body.
"""

import base64
import http.server
import itertools
import pathlib
import sys

import spnego

folder = pathlib.Path(sys.argv[1])
numbers = itertools.count()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.number = next(numbers)
        self.context = None
        self.is_authenticated = False

    def reply(self, status, size, challenge=None):
        print(status, self.command, self.path, self.number, size, flush=True)
        self.send_response(status)
        if challenge is not None:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind, _, text = self.headers.get("Authorization", "").partition(" ")
        if kind == "NTLM" and not self.is_authenticated:
            try:
                self.context = self.context or spnego.server(protocol="ntlm")
                token = self.context.step(base64.b64decode(text))
                self.is_authenticated = self.context.complete
            except Exception:  # a wrong password
                self.context = None
                return self.reply(401, len(body), "NTLM")
            if not self.is_authenticated:
                return self.reply(401, len(body), "NTLM " + base64.b64encode(token).decode())
        if not self.is_authenticated:
            return self.reply(401, len(body), "NTLM")
        (folder / self.path.strip("/")).write_bytes(body)
        self.reply(201, len(body))

    do_POST = do_PUT

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
