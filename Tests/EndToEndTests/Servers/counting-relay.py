"""A TCP relay that counts the bytes of its connections.

usage: counting-relay.py SERVER_PORT

The relay prints `port PORT`. When its standard input is closed, it prints `sent BYTES received BYTES`: what the clients
sent and what they received, on all connections.
"""

import asyncio
import sys

upstream = int(sys.argv[1])
counts = {"sent": 0, "received": 0}
connections = 0


async def pump(reader, writer, direction):
    try:
        while data := await reader.read(65536):
            if direction == "sent":
                counts[direction] += len(data)
            writer.write(data)
            await writer.drain()
            if direction == "received":
                counts[direction] += len(data)
        writer.write_eof()
    except OSError:
        writer.close()


async def relay(reader, writer):
    global connections
    connections += 1
    server_reader, server_writer = await asyncio.open_connection("127.0.0.1", upstream)
    await asyncio.gather(pump(reader, server_writer, "sent"), pump(server_reader, writer, "received"))
    for each in (writer, server_writer):
        each.close()
    connections -= 1


async def main():
    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # The client has exited, so its connections end as soon as everything in their buffers has been read.
    for _ in range(300):
        await asyncio.sleep(0.1)
        if connections == 0:
            break
    print("sent", counts["sent"], "received", counts["received"], flush=True)
    server.close()


asyncio.run(main())
