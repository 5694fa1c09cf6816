"""A proxy for HTTP/1.1 that plays faults between a client and a real server.

usage: fault-proxy.py SERVER_PORT FAULTS

FAULTS is JSON: a list of objects with `match` (a regular expression for `METHOD TARGET`), `number` (which match, counted
from 1; absent for each) or `times` (how many matches, from the first), and one of
  lost: true      the request is executed, and the connection closed instead of a response
  drop: BYTES     the connection is closed after this many bytes of the body, and the request is not executed
  status: STATUS  this status is the response, and the request is not executed
  delay: SECONDS  the request is executed after this time
  body: TEXT      the request is executed, and this is the body of the response, with status 200

It prints `port PORT`, and one line `METHOD TARGET BYTES` for each request whose body it has received, and ends with its
standard input, or on SIGTERM.
"""

import asyncio
import json
import re
import sys

upstream, faults = int(sys.argv[1]), json.loads(sys.argv[2])
matches = {}


def fault_for(line):
    for index, fault in enumerate(faults):
        if not re.search(fault["match"], line):
            continue
        matches[index] = matches.get(index, 0) + 1
        if fault.get("number") in (None, matches[index]) and matches[index] <= fault.get("times", matches[index]):
            return fault
    return {}


async def execute(head, body):
    reader, writer = await asyncio.open_connection("127.0.0.1", upstream)
    line, _, rest = head.partition(b"\r\n")
    writer.write(line + b"\r\nConnection: close\r\n" + rest + body)
    await writer.drain()
    response = await reader.read(-1)
    writer.close()
    return response


async def serve(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.split(b"\r\n", 1)[0].decode("latin-1").rsplit(" ", 1)[0]
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        length = int(length.group(1)) if length else 0
        fault = fault_for(line)
        if re.search(rb"\r\nexpect: *100-continue", head, re.I):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "drop" in fault:
            received = await reader.readexactly(min(fault["drop"], length))
            print(line, len(received), flush=True)
            return
        body = await reader.readexactly(length)
        print(line, len(body), flush=True)
        await asyncio.sleep(fault.get("delay", 0))
        if "status" in fault:
            writer.write(b"HTTP/1.1 %d Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % fault["status"])
            return
        response = await execute(head, body)
        if "body" in fault:
            text = fault["body"].encode()
            response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(text) + text
        if not fault.get("lost"):
            writer.write(response)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    end = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await end


asyncio.run(main())
