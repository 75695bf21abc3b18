"""A Redis as it is deployed: with the users and the rules of deploy/redis, and passwords of its own."""

import socket
from pathlib import Path

from streams.services import HOST, Service, free_port
from tests.docs_printed import ROOT

PASSWORDS = {"redis_password": "of-lara/@:%", "redis_reader_password": "of-the-reader"}
USERS = {"lara": "redis_password", "reader": "redis_reader_password"}


def guarded_redis(directory: Path) -> Service:
    """Not yet started."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, password in PASSWORDS.items():
        (directory / name).write_text(f"{password}\n")
    port = free_port()
    start = str(ROOT / "deploy/redis/start.sh")
    options = ["--port", str(port), "--bind", HOST, "--dir", str(directory)]
    return Service("redis", [start, str(directory), str(directory), *options], directory, port, _answers)


def _answers(connection: socket.socket) -> bool:
    connection.sendall(b"PING\r\n")
    return connection.makefile("rb").read(5) == b"+PONG"
