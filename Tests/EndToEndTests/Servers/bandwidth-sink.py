"""Receives uploads and measures their rates.

usage: bandwidth-sink.py UPLOADS SETTLE SECONDS

The server prints `listening on PORT`. When UPLOADS uploads have sent bytes, it waits for SETTLE seconds, counts the bytes
of each upload for SECONDS seconds, and prints `measured` and a JSON object: `seconds`, and `bytes` by path. A path
begins with the name of the job that sends it.
"""

import json
import socket
import sys
import threading
import time

uploads, settle, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
counts = {}
ready = threading.Event()


def receive(client):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(65536)
        if not piece:
            return
        head += piece
    if b"100-continue" in head.lower():
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    path = head.split()[1].decode()
    buffer = bytearray(65536)
    try:
        while count := client.recv_into(buffer):
            counts[path] = counts.get(path, 0) + count
            if len(counts) == uploads:
                ready.set()
    except ConnectionError:
        # The test ends the clients.
        pass


def measure():
    ready.wait()
    time.sleep(settle)
    before, start = dict(counts), time.monotonic()
    time.sleep(seconds)
    after, end = dict(counts), time.monotonic()
    sent = {path: after[path] - before[path] for path in after}
    print("measured", json.dumps({"seconds": end - start, "bytes": sent}), flush=True)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
print("listening on", listener.getsockname()[1], flush=True)
threading.Thread(target=measure, daemon=True).start()
while True:
    client, _ = listener.accept()
    threading.Thread(target=receive, args=(client,), daemon=True).start()
