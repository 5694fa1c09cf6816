"""A server that parses forms with aiohttp's parser, and writes the result as lines of JSON.

usage: form-server.py FOLDER

The server prints `listening on PORT`, appends a line to FOLDER/forms.jsonl for each parsed form, and stores no file. It
reads the settings in FOLDER/settings.json for each form request:
  stop: the number of bytes of a form after which it stops reading until this setting changes; when it stops, it appends
    a line to FOLDER/stopped.jsonl
  token: the bearer token that a form request must have
  status: the status of the response
  forgotten: the upload IDs that it no longer knows
POST /ids returns an upload ID, POST /commit/ID commits it and appends a line to FOLDER/commits.jsonl, and POST /token
returns a token: t1, then t2, and so on.
"""

import asyncio
import base64
import hashlib
import json
import os
import sys

from aiohttp import web

folder = sys.argv[1]
counts = {"ids": 0, "tokens": 0}
stored = {}


def settings():
    try:
        with open(os.path.join(folder, "settings.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def note(entry, name="forms.jsonl"):
    # The line is written at once, so that a reader never finds a part of it.
    with open(os.path.join(folder, name), "a") as file:
        file.write(json.dumps(entry) + "\n")


async def token(request):
    counts["tokens"] += 1
    return web.json_response({"access_token": "t%d" % counts["tokens"], "expires_in": 3600})


async def allocate(request):
    counts["ids"] += 1
    return web.json_response({"id": "i%d" % counts["ids"]})


async def commit(request):
    name = request.match_info["id"]
    if name not in stored:
        return web.Response(status=404)
    note({"id": name, "form": stored[name]}, "commits.jsonl")
    return web.Response(status=200)


async def form(request):
    wish = settings()
    if request.match_info.get("id") in wish.get("forgotten", []):
        return web.Response(status=404)
    limit = wish.get("stop")
    entry = {
        "method": request.method,
        "path": request.path,
        "content_type": request.headers.get("Content-Type"),
        "content_length": request.content_length,
        "parts": [],
    }
    received = 0
    is_noted = False
    async for part in await request.multipart():
        digest = hashlib.sha256()
        size = 0
        head = b""
        while True:
            piece = await part.read_chunk(1 << 16)
            if not piece:
                break
            digest.update(piece)
            size += len(piece)
            received += len(piece)
            if part.filename is None and len(head) < 4096:
                head += piece
            while limit is not None and received >= limit:
                if not is_noted:
                    note({"received": received}, "stopped.jsonl")
                    is_noted = True
                await asyncio.sleep(0.01)
                limit = settings().get("stop")
        entry["parts"].append(
            {
                "name": part.name,
                "filename": part.filename and part.filename.encode("utf-8", "replace").decode(),
                "content_type": part.headers.get("Content-Type"),
                # The value is passed as bytes, because names may not be valid UTF-8.
                "disposition": base64.b64encode(
                    part.headers.get("Content-Disposition", "").encode("utf-8", "surrogateescape")
                ).decode(),
                "size": size,
                "sha256": digest.hexdigest(),
                "value": None if part.filename is not None else head.decode("utf-8", "replace"),
            }
        )
    wish = settings()
    wanted = wish.get("token")
    refused = wanted is not None and request.headers.get("Authorization") != "Bearer " + wanted
    entry["status"] = 401 if refused else wish.get("status", 201)
    entry["authorization"] = request.headers.get("Authorization")
    note(entry)
    if entry["status"] == 201:
        stored[request.match_info.get("id", "")] = entry
    return web.Response(status=entry["status"])


async def main():
    app = web.Application(client_max_size=1 << 40)
    app.router.add_post("/token", token)
    app.router.add_post("/ids", allocate)
    app.router.add_post("/commit/{id}", commit)
    app.router.add_route("*", "/forms/{id}", form)
    app.router.add_route("*", "/forms", form)
    app.router.add_route("*", "/upload", form)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print("listening on %d" % site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
