"""Runs a tus server that is not part of this project, with uvicorn.

usage: tus-server.py MODULE FOLDER        (MODULE is tuspyserver or tussi)

The script prints `port N`. The server stores uploads to /files in FOLDER/uploads. For each complete upload, a line of
JSON is appended to FOLDER/complete.jsonl.
"""

import json
import os
import socket
import sys

import uvicorn

module, folder = sys.argv[1:]


def complete(path, metadata):
    with open(os.path.join(folder, "complete.jsonl"), "a") as file:
        file.write(json.dumps(dict(path=path, metadata=metadata)) + "\n")


def tuspyserver():
    import fastapi
    from tuspyserver import create_tus_router

    router = create_tus_router(prefix="/files", files_dir=os.path.join(folder, "uploads"), on_upload_complete=complete)
    app = fastapi.FastAPI()
    app.include_router(router)
    return app


def tussi():
    from tussi import FilesystemStorage, TUSApp, UploadCompletedEvent

    async def note_event(event):
        if isinstance(event, UploadCompletedEvent):
            complete(os.path.join(folder, "complete", event.upload_info.upload_id), event.upload_info.metadata)

    os.mkdir(os.path.join(folder, "uploads"))
    return TUSApp(
        storage=FilesystemStorage(directory=os.path.join(folder, "uploads")),
        completed_dir=os.path.join(folder, "complete"),
        on_event=note_event)


app = dict(tuspyserver=tuspyserver, tussi=tussi)[module]()


async def noting(scope, receive, send):
    """Runs the application, and appends each request and the response's status to FOLDER/requests.log."""

    async def note(message):
        if message["type"] == "http.response.start":
            with open(os.path.join(folder, "requests.log"), "a") as file:
                file.write("%s %d\n" % (scope["method"], message["status"]))
        await send(message)

    await app(scope, receive, note if scope["type"] == "http" else send)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(noting, log_level="warning")).run(sockets=[listener])
