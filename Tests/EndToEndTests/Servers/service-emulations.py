"""Emulations of upload services, written from the public documentation of each service.

usage: service-emulations.py HOLDS

Each service has a section below, and responds at the path that its `register` call names. If the documentation of the
service does not allow a request, the response is the documented error, and a line is added to `violations`.

HOLDS is JSON: a list of objects with `match` (a regular expression for `METHOD PATH?QUERY`), `number` (which match,
counted from 1), and `at`, the moment at which the request is held until the server exits:
  before  nothing has been read or executed
  body    the first half of the body has been read
  after   the request has been executed, but the response has not been sent
The server prints `port PORT` and `held MATCH NUMBER`. GET /log returns what it has stored.
"""

import asyncio
import collections
import hashlib
import json
import re
import sys
import urllib.parse

from aiohttp import web

holds = json.loads(sys.argv[1])
matches = collections.Counter()
counts = collections.Counter()
violations = []
other_port = 0
# The files that each service has accepted. The test compares them with the original files.
stored = collections.defaultdict(list)


class Refusal(Exception):
    def __init__(self, reason, status, body, kind="application/json", headers=None):
        super().__init__(reason)
        text = json.dumps(body) if kind == "application/json" else body
        self.response = web.Response(status=status, text=text, content_type=kind, headers=headers)


async def hold(request, at):
    line = f"{request.method} {request.path_qs}"
    for index, wish in enumerate(holds):
        if wish["at"] != at or not re.search(wish["match"], line):
            continue
        matches[index] += 1
        if matches[index] == wish.get("number", 1):
            print("held", wish["match"], wish.get("number", 1), flush=True)
            await asyncio.Event().wait()


@web.middleware
async def strict(request, handler):
    if request.path == "/log":
        return await handler(request)
    await hold(request, "before")
    try:
        response = await handler(request)
    except Refusal as refusal:
        violations.append(f"{request.method} {request.path_qs}: {refusal}")
        # The rest of the body is read, so that the client receives the response.
        await request.content.read(-1)
        return refusal.response
    await hold(request, "after")
    return response


async def receive(request, refuse, keep=None):
    """The body, which must have a Content-Length. `keep` is called with each piece as it arrives."""
    if request.content_length is None:
        raise refuse("no Content-Length", 411)
    body = bytearray()
    is_held = False
    while True:
        if not is_held and len(body) * 2 >= request.content_length > 0:
            is_held = True
            await hold(request, "body")
        piece = await request.content.read(1 << 16)
        if not piece:
            break
        body += piece
        if keep:
            keep(piece)
    if len(body) != request.content_length:
        raise refuse("the body is cut off", 400)
    return bytes(body)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def base(request):
    return f"http://{request.host}"


def register(prefix, *routes):
    for method, path, handler in routes:
        app.router.add_route(method, prefix + path, handler)


async def log(request):
    return web.json_response(
        {"violations": violations, "counts": dict(counts), "stored": {key: stored[key] for key in stored}}
    )


def oauth(service):
    """The token endpoint of OAuth 2.0 (RFC 6749, section 6)."""

    async def token(request):
        form = await request.post()
        wanted = {
            "grant_type": "refresh_token",
            "client_id": "test-client",
            "client_secret": "test-client-secret",
            "refresh_token": "test-refresh-token",
        }
        if dict(form) != wanted:
            raise Refusal(f"form {sorted(form)}", 400, {"error": "invalid_grant"})
        counts[service + " tokens"] += 1
        return web.json_response({"access_token": service + "-token", "token_type": "bearer", "expires_in": 3599})

    return token


# Slack: files.getUploadURLExternal, the upload URL, files.completeUploadExternal.
# https://docs.slack.dev/reference/methods/files.getUploadURLExternal

slack_files = {}


def slack_error(code):
    # The Web API reports every error with the status 200.
    return Refusal(code, 200, {"ok": False, "error": code})


async def slack_arguments(request):
    if request.headers.get("Authorization") != "Bearer xoxb-test":
        raise slack_error("invalid_auth" if "Authorization" in request.headers else "not_authed")
    if request.content_type == "application/json":
        return await request.json()
    if request.content_type == "application/x-www-form-urlencoded":
        return dict(await request.post())
    raise slack_error("invalid_post_type")


async def slack_get_url(request):
    arguments = await slack_arguments(request)
    if not arguments.get("filename") or not re.fullmatch(r"[1-9]\d*", str(arguments.get("length", ""))):
        raise slack_error("invalid_arguments")
    number = len(slack_files) + 1
    name = f"F{number:08}"
    slack_files[name] = dict(name=arguments["filename"], length=int(arguments["length"]), data=None, completed=0)
    return web.json_response(
        {"ok": True, "file_id": name, "upload_url": f"{base(request)}/slack-files/upload/v1/{name}-secret"}
    )


async def slack_upload(request):
    entry = slack_files.get(request.match_info["key"].removesuffix("-secret"))
    if entry is None or entry["data"] is not None:
        raise Refusal("an unknown or used upload URL", 404, "not found", "text/plain")
    data = await receive(request, lambda reason, status: Refusal(reason, status, reason, "text/plain"))
    if len(data) != entry["length"]:
        raise Refusal("another length", 400, "wrong length", "text/plain")
    entry["data"] = data
    return web.Response(text=f"OK - {len(data)}")


async def slack_complete(request):
    arguments = await slack_arguments(request)
    files = arguments.get("files")
    files = json.loads(files) if isinstance(files, str) else files
    if not files or arguments.get("channel_id") != "C0TEST":
        raise slack_error("invalid_arguments" if not files else "channel_not_found")
    for file in files:
        entry = slack_files.get(file.get("id"))
        if entry is None or entry["data"] is None or entry["completed"]:
            raise slack_error("file_not_found")
        entry["completed"] += 1
        counts["slack completions"] += 1
        stored["slack"].append(dict(name=file.get("title"), sha256=sha256(entry["data"])))
    return web.json_response({"ok": True, "files": [{"id": f["id"], "title": f.get("title")} for f in files]})


# YouTube: resumable uploads.
# https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol

youtube_sessions = {}
QUARTER = 256 << 10


def youtube_error(reason, status):
    return Refusal(reason, status, {"error": {"code": status, "message": reason, "errors": []}})


def youtube_check(request):
    if request.headers.get("Authorization") != "Bearer youtube-token":
        raise youtube_error("authError", 401)


async def youtube_start(request):
    youtube_check(request)
    if request.query.get("uploadType") != "resumable" or request.content_type != "application/json":
        raise youtube_error("badRequest", 400)
    video = await request.json()
    parts = set(request.query.get("part", "").split(","))
    title = video.get("snippet", {}).get("title", "")
    if set(video) != parts or not parts <= {"snippet", "status"}:
        raise youtube_error("unexpectedPart", 400)
    if not title or len(title) > 100 or re.search("[<>]", title):
        raise youtube_error("invalidTitle", 400)
    if video["status"].get("privacyStatus") not in ("public", "private", "unlisted"):
        raise youtube_error("invalidVideoMetadata", 400)
    if not re.match("video/|application/octet-stream", request.headers.get("X-Upload-Content-Type", "")):
        raise youtube_error("mediaBodyRequired", 400)
    name = f"u{len(youtube_sessions) + 1}"
    size = int(request.headers.get("X-Upload-Content-Length", -1))
    youtube_sessions[name] = dict(title=title, size=size, data=bytearray(), received=0, video=None, turn=0)
    return web.Response(headers={"Location": f"{base(request)}{request.path_qs}&upload_id={name}"})


def youtube_state(session):
    if session["video"]:
        return web.json_response({"kind": "youtube#video", "id": session["video"]}, status=200)
    headers = {"Range": f"bytes=0-{len(session['data']) - 1}"} if session["data"] else {}
    return web.Response(status=308, headers=headers)


async def youtube_put(request):
    youtube_check(request)
    session = youtube_sessions.get(request.query.get("upload_id"))
    if session is None:
        raise youtube_error("notFound", 404)
    found = re.fullmatch(r"bytes (?:\*|(\d+)-(\d+))/(\d+)", request.headers.get("Content-Range", ""))
    if not found or int(found.group(3)) != session["size"]:
        raise youtube_error("invalidContentRange", 400)
    # A new request ends the previous one.
    session["turn"] += 1
    turn = session["turn"]
    if found.group(1) is None:
        counts["youtube queries"] += 1
        if request.content_length:
            raise youtube_error("a query with a body", 400)
        return youtube_state(session)
    start, end = int(found.group(1)), int(found.group(2))
    if request.content_length != end - start + 1 or start != len(session["data"]) or end >= session["size"]:
        raise youtube_error("invalidContentRange", 400)
    if end + 1 < session["size"] and (end - start + 1) % QUARTER:
        raise youtube_error("invalidChunkSize", 400)
    part = bytearray()

    def keep(piece):
        session["received"] += len(piece)
        part.extend(piece)
        if turn == session["turn"]:
            whole = len(part) // QUARTER * QUARTER
            session["data"] = session["data"][:start] + part[:whole]

    await receive(request, youtube_error, keep)
    session["data"] = session["data"][:start] + part
    if len(session["data"]) < session["size"]:
        return youtube_state(session)
    counts["youtube videos"] += 1
    session["video"] = f"v{counts['youtube videos']}"
    stored["youtube"].append(
        dict(name=session["title"], sha256=sha256(session["data"]), received=session["received"])
    )
    return web.json_response({"kind": "youtube#video", "id": session["video"]}, status=201)


# GitHub: the assets of a release.
# https://docs.github.com/rest/releases/assets

github_assets = []


def github_error(reason, status, errors=()):
    return Refusal(reason, status, {"message": reason, "errors": list(errors), "status": str(status)})


def github_check(request):
    # https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api
    if not request.headers.get("User-Agent"):
        raise github_error("Request forbidden by administrative rules", 403)
    if request.headers.get("Authorization") != "Bearer github-test":
        raise github_error("Bad credentials", 401)
    if request.headers.get("X-GitHub-Api-Version") not in (None, "2022-11-28"):
        raise github_error("Unsupported API version", 400)
    if request.match_info["release"] not in ("v1.0.0", "4711"):
        raise github_error("Not Found", 404)


async def github_release(request):
    github_check(request)
    url = f"{base(request)}/github-uploads/repos/octo-org/app/releases/4711/assets"
    return web.json_response(
        {"id": 4711, "tag_name": "v1.0.0", "upload_url": url + "{?name,label}", "assets": github_assets}
    )


async def github_list(request):
    github_check(request)
    return web.json_response(github_assets)


async def github_upload(request):
    github_check(request)
    if not request.query.get("name") or "Content-Type" not in request.headers:
        raise github_error("Validation Failed", 422, [{"resource": "ReleaseAsset", "code": "missing_field"}])
    name = re.sub("[^A-Za-z0-9._-]+", ".", request.query["name"]).strip(".")
    if any(asset["name"] == name for asset in github_assets):
        problem = {"resource": "ReleaseAsset", "code": "already_exists", "field": "name"}
        raise github_error("Validation Failed", 422, [problem])
    data = await receive(request, github_error)
    if not data:
        raise github_error("Bad Content-Length", 400)
    asset = dict(
        id=len(github_assets) + 1, name=name, label=None, uploader={"login": "octocat"}, state="uploaded",
        content_type=request.headers["Content-Type"], size=len(data), digest="sha256:" + sha256(data),
    )
    github_assets.append(asset)
    if name.startswith("broken"):
        # A failure behind the API leaves an empty asset.
        asset.update(state="starter", size=0, digest=None)
        return web.json_response({"message": "Server Error"}, status=502)
    counts["github assets"] += 1
    stored["github"].append(dict(name=name, sha256=sha256(data)))
    return web.json_response(asset, status=201)


# Dropbox: upload sessions.
# https://www.dropbox.com/developers/documentation/http/documentation#files-upload_session-start

dropbox_sessions = {}


def dropbox_error(reason, status=400):
    if status == 409:
        return Refusal(reason, 409, {"error_summary": reason + "/.", "error": {".tag": reason.split("/")[0]}})
    if status == 401:
        return Refusal(reason, 401, {"error_summary": reason + "/.", "error": {".tag": reason}})
    return Refusal(reason, status, reason, "text/plain")


async def dropbox_arguments(request, allowed):
    if request.headers.get("Authorization") != "Bearer dropbox-token":
        raise dropbox_error("invalid_access_token", 401)
    if request.headers.get("Content-Type") != "application/octet-stream":
        raise dropbox_error('Bad HTTP "Content-Type" header')
    text = request.headers.get("Dropbox-API-Arg", "")
    try:
        text.encode("ascii")
        arguments = json.loads(text)
    except ValueError:
        raise dropbox_error("Dropbox-API-Arg: could not decode input as JSON")
    if not set(arguments) <= allowed:
        raise dropbox_error(f"Dropbox-API-Arg: unknown field in {sorted(arguments)}")
    data = await receive(request, dropbox_error)
    if len(data) > 150 << 20:
        raise dropbox_error("payload_too_large", 413)
    return arguments, data


def dropbox_append(session, data, close):
    if session["closed"]:
        raise dropbox_error("closed", 409)
    session["data"] += data
    session["closed"] = close


def dropbox_session(arguments, prefix=""):
    cursor = arguments.get("cursor", {})
    session = dropbox_sessions.get(cursor.get("session_id"))
    if session is None:
        raise dropbox_error(prefix + "not_found", 409)
    if type(cursor.get("offset")) is not int or cursor["offset"] != len(session["data"]):
        raise dropbox_error(prefix + "incorrect_offset", 409)
    return session


async def dropbox_start(request):
    arguments, data = await dropbox_arguments(request, {"close", "session_type", "content_hash"})
    name = f"AAAA{len(dropbox_sessions) + counts['dropbox files'] + 1:04}"
    dropbox_sessions[name] = dict(data=b"", closed=False)
    dropbox_append(dropbox_sessions[name], data, arguments.get("close", False))
    return web.json_response({"session_id": name})


async def dropbox_append_v2(request):
    arguments, data = await dropbox_arguments(request, {"cursor", "close", "content_hash"})
    dropbox_append(dropbox_session(arguments), data, arguments.get("close", False))
    return web.json_response(None)


async def dropbox_finish(request):
    arguments, data = await dropbox_arguments(request, {"cursor", "commit", "content_hash"})
    session = dropbox_session(arguments, "lookup_failed/")
    commit = arguments.get("commit", {})
    if not commit.get("path", "").startswith("/") or commit.get("mode", "add") not in ("add", "overwrite"):
        raise dropbox_error("path/malformed_path", 409)
    if data:
        dropbox_append(session, data, True)
    del dropbox_sessions[arguments["cursor"]["session_id"]]
    counts["dropbox files"] += 1
    stored["dropbox"].append(dict(name=commit["path"], sha256=sha256(session["data"])))
    return web.json_response({"name": commit["path"].rsplit("/", 1)[1], "size": len(session["data"]), "id": "id:a"})


# Zenodo: depositions and their buckets.
# https://developers.zenodo.org

depositions = {}


def zenodo_error(reason, status):
    return Refusal(reason, status, {"status": status, "message": reason})


def zenodo_check(request):
    if request.headers.get("Authorization") != "Bearer zenodo-test":
        raise zenodo_error("Unauthorized", 401)


async def zenodo_create(request):
    zenodo_check(request)
    if request.content_type != "application/json":
        raise zenodo_error("Invalid Content-Type header. Expected one of: application/json", 415)
    metadata = (await request.json()).get("metadata", {})
    number = 1000 + len(depositions) + 1
    depositions[number] = dict(metadata=metadata, files={}, published=0)
    counts["zenodo depositions"] += 1
    links = {
        "bucket": f"{base(request)}/zenodo/api/files/bucket-{number}",
        "publish": f"{base(request)}/zenodo/api/deposit/depositions/{number}/actions/publish",
    }
    body = {"id": number, "state": "unsubmitted", "submitted": False, "metadata": metadata, "links": links}
    return web.json_response(body, status=201)


async def zenodo_put(request):
    zenodo_check(request)
    deposition = depositions.get(int(request.match_info["bucket"]))
    if deposition is None:
        raise zenodo_error("Bucket does not exist.", 404)
    if deposition["published"]:
        raise zenodo_error("Bucket is locked for modifications.", 403)
    data = await receive(request, zenodo_error)
    counts["zenodo files"] += 1
    deposition["files"][request.match_info["key"]] = sha256(data)
    checksum = "md5:" + hashlib.md5(data).hexdigest()
    return web.json_response(
        {"key": request.match_info["key"], "size": len(data), "checksum": checksum}, status=201
    )


async def zenodo_publish(request):
    zenodo_check(request)
    number = int(request.match_info["number"])
    deposition = depositions.get(number)
    if deposition is None:
        raise zenodo_error("PID does not exist.", 404)
    if deposition["published"]:
        raise zenodo_error("Deposition is already published.", 403)
    missing = {"title", "upload_type", "description", "creators"} - set(deposition["metadata"])
    if missing or not deposition["files"]:
        raise zenodo_error(f"Validation error: {sorted(missing) or 'no files'}", 400)
    deposition["published"] += 1
    counts["zenodo publications"] += 1
    stored["zenodo"] += [dict(name=name, sha256=digest) for name, digest in sorted(deposition["files"].items())]
    return web.json_response(
        {"id": number, "state": "done", "submitted": True, "doi": f"10.5281/zenodo.{number}"}, status=202
    )


# The Internet Archive: the S3-like API.
# https://archive.org/developers/ias3.html

items = {}


def archive_error(code, status):
    text = f"<?xml version='1.0' encoding='UTF-8'?>\n<Error><Code>{code}</Code></Error>"
    return Refusal(code, status, text, "application/xml")


async def archive_put(request):
    if request.headers.get("Authorization") != "LOW test-key:test-secret":
        raise archive_error("AccessDenied", 403)
    item, name = request.match_info["item"], request.match_info["name"]
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{2,99}", item):
        raise archive_error("InvalidBucketName", 400)
    metadata = {k.lower(): v for k, v in request.headers.items() if k.lower().startswith("x-archive-meta")}
    if item not in items:
        if request.headers.get("x-archive-auto-make-bucket") != "1":
            raise archive_error("NoSuchBucket", 404)
    if any(not value.isascii() for value in metadata.values()):
        raise archive_error("InvalidArgument", 400)
    # The service often redirects an upload to another host of the service.
    if request.url.port != other_port and name.startswith("moved"):
        counts["archive redirects"] += 1
        location = f"http://127.0.0.1:{other_port}{request.rel_url.raw_path}"
        return web.Response(status=307, headers={"Location": location})
    counts["archive " + name] += 1
    if name.startswith("slow") and counts["archive " + name] == 1:
        counts["archive slow"] += 1
        await request.content.read(-1)
        return web.Response(status=503, text="<Error><Code>SlowDown</Code></Error>", content_type="application/xml")
    data = await receive(request, lambda reason, status: archive_error("MissingContentLength", status))
    if request.headers.get("x-archive-size-hint", str(len(data))) != str(len(data)):
        raise archive_error("InvalidArgument", 400)
    # The first upload sets the metadata of the item.
    items.setdefault(item, {k: urllib.parse.unquote(v) for k, v in metadata.items()})
    counts["archive files"] += 1
    stored["archive"].append(dict(name=f"{item}/{name}", sha256=sha256(data), metadata=items[item]))
    return web.Response(status=200)


app = web.Application(middlewares=[strict], client_max_size=1 << 30)
app.router.add_get("/log", log)
register(
    "/slack/api",
    ("POST", "/files.getUploadURLExternal", slack_get_url),
    ("POST", "/files.completeUploadExternal", slack_complete),
)
register("/slack-files", ("POST", "/upload/v1/{key}", slack_upload))
register(
    "/youtube",
    ("POST", "/token", oauth("youtube")),
    ("POST", "/upload/youtube/v3/videos", youtube_start),
    ("PUT", "/upload/youtube/v3/videos", youtube_put),
)
register(
    "/github/repos/octo-org/app/releases",
    ("GET", "/tags/{release}", github_release),
    ("GET", "/{release}/assets", github_list),
)
register("/github-uploads/repos/octo-org/app/releases", ("POST", "/{release}/assets", github_upload))
register(
    "/dropbox",
    ("POST", "/oauth2/token", oauth("dropbox")),
    ("POST", "/2/files/upload_session/start", dropbox_start),
    ("POST", "/2/files/upload_session/append_v2", dropbox_append_v2),
    ("POST", "/2/files/upload_session/finish", dropbox_finish),
)
register(
    "/zenodo/api",
    ("POST", "/deposit/depositions", zenodo_create),
    ("PUT", r"/files/bucket-{bucket:\d+}/{key}", zenodo_put),
    ("POST", r"/deposit/depositions/{number:\d+}/actions/publish", zenodo_publish),
)
register("/archive", ("PUT", "/{item}/{name}", archive_put))


async def main():
    global other_port
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site, other = web.TCPSite(runner, "127.0.0.1", 0), web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    await other.start()
    other_port = other._server.sockets[0].getsockname()[1]
    print("port", site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
