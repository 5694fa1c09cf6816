"""An OAuth 2.0 server by Authlib (RFC 6749) that rotates refresh tokens, and files that need its access tokens.

usage: oauth-issuer.py [OPTION=VALUE]...

The clients are `app` (secret `app secret/+:%`, HTTP Basic), `form` (the same secret, in the body) and `public` (no secret).
The user's refresh token is `first/+&refresh`. A refresh token is valid once: the server replaces it with each response.

options:
  expires=N       the lifetime of access tokens in seconds (default 3600; `none`: the response has no `expires_in`)
  unavailable=N   the first N requests for a token get `temporarily_unavailable`
  hold=N          the Nth response with a token is not sent
  delay=N         each PUT takes N milliseconds
  hold_put=N      the Nth PUT gets no response
  journal=FILE    ferry.db; its refresh token is printed with each PUT
  type=TYPE       the `token_type` of tokens

It prints its port, and a line of JSON for each request.
"""

import json
import os
import sqlite3
import sys
import threading
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, OAuth2Error, TokenMixin, grants
from flask import Flask, request
from werkzeug.serving import make_server

options = dict(argument.split("=", 1) for argument in sys.argv[1:])
SECRET = "app secret/+:%"
lock = threading.Lock()
tokens = []
counts = {"token": 0, "put": 0}


def show(**entry):
    sys.stdout.write(json.dumps(entry) + "\n")
    sys.stdout.flush()


class Client(ClientMixin):
    def __init__(self, name, method):
        self.client_id, self.method = name, method

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in ("read", "write"))

    def check_client_secret(self, secret):
        return secret == SECRET

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_grant_type(self, grant_type):
        return True


clients = {
    name: Client(name, method)
    for name, method in [
        ("app", "client_secret_basic"), ("form", "client_secret_post"), ("public", "none")]
}


class Token(TokenMixin):
    def __init__(self, client, access, refresh, scope, expires_in):
        self.client, self.access, self.refresh, self.scope = client, access, refresh, scope
        self.expires_in, self.issued_at = expires_in, time.time()
        self.is_revoked = False

    def check_client(self, client):
        return True

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.expires_in

    def is_expired(self):
        return False

    def is_alive(self):
        return self.expires_in is None or time.time() < self.issued_at + self.expires_in


class Unavailable(OAuth2Error):
    error = "temporarily_unavailable"
    description = "try again"


class ClientCredentials(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class Refresh(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        with lock:
            for token in tokens:
                if token.refresh == refresh_token and not token.is_revoked:
                    return token
        return None

    def authenticate_user(self, refresh_token):
        return "user"

    def revoke_old_credential(self, refresh_token):
        refresh_token.is_revoked = True


app = Flask(__name__)
lifetime = options.get("expires", "3600")
seconds = None if lifetime == "none" else int(lifetime)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {name: seconds or 3600 for name in ("client_credentials", "refresh_token")}


def save(token, request):
    if seconds is None:
        token.pop("expires_in", None)
    token["token_type"] = options.get("type", token["token_type"])
    with lock:
        tokens.append(
            Token(request.client, token["access_token"], token.get("refresh_token"), token.get("scope", ""), seconds))


server = AuthorizationServer(app, query_client=clients.get, save_token=save)
server.register_grant(ClientCredentials)
server.register_grant(Refresh)
tokens.append(Token(clients["app"], None, "first/+&refresh", "read write", None))


@app.post("/token")
def token():
    with lock:
        counts["token"] += 1
        number = counts["token"]
    form = request.form.to_dict()
    entry = dict(path="/token", form=form, basic="Authorization" in request.headers, accept=request.headers.get("Accept"))
    if number <= int(options.get("unavailable", 0)):
        show(status=400, **entry)
        return server.handle_error_response(request, Unavailable())
    response = server.create_token_response()
    body = response.get_json(silent=True) or {}
    show(status=response.status_code, refresh=body.get("refresh_token"), access=body.get("access_token"), **entry)
    if number == int(options.get("hold", 0)):
        time.sleep(3600)
    return response


@app.put("/files/<name>")
def put(name):
    request.get_data()
    time.sleep(int(options.get("delay", 0)) / 1000)
    carried = request.headers.get("Authorization", "")
    access = carried[7:] if carried.startswith("Bearer ") else request.args.get("access_token") or request.cookies.get("session")
    with lock:
        counts["put"] += 1
        number = counts["put"]
        found = [one for one in tokens if one.access == access and one.is_alive()]
    entry = dict(path="/files/" + name, place="header" if carried else "query" if request.args else "cookie")
    if "journal" in options:
        with sqlite3.connect("file:" + options["journal"] + "?mode=ro", uri=True) as db:
            entry["journal"] = [row[0] for row in db.execute("SELECT value FROM refresh_token")]
    show(status=201 if found else 401, access=access, **entry)
    if number == int(options.get("hold_put", 0)):
        time.sleep(3600)
    if found:
        return "", 201
    return "", 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}


http = make_server("127.0.0.1", 0, app, threaded=True)
print("port", http.server_port, flush=True)
http.serve_forever()
