"""A TCP proxy in a thread of its own, so that a server can be cut off, or another take its place."""

import asyncio
import threading
from contextlib import suppress

from streams.services import HOST, free_port


class Proxy:
    """Listens on one port and passes everything on to `target`, while it is `up`."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self.up = True
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Proxy":
        started = threading.Event()
        self._loop.call_soon(started.set)
        self._thread.start()
        started.wait()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *error: object) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def cut(self) -> None:
        """Close every connection and refuse new ones, until `up` is set again."""
        self.up = False
        self._loop.call_soon_threadsafe(self._close_all)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        await asyncio.start_server(self._serve, HOST, self.port)

    def _close_all(self) -> None:
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.up:
            writer.close()
            return
        with suppress(OSError):
            onward_reader, onward_writer = await asyncio.open_connection(HOST, self.target)
            self._open |= {writer, onward_writer}
            await asyncio.gather(_pass_on(reader, onward_writer), _pass_on(onward_reader, writer))
            self._open -= {writer, onward_writer}
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
