"""`lara exporter`: the figures for Prometheus."""

import signal
import threading
import time

import structlog
from redis import RedisError

from metrics.exporter import QualityCollector, serve
from streams.connections import reader_of
from streams.settings import Settings, published
from streams.state.meaning import OtherMeaning

log = structlog.get_logger()


def collector(settings: Settings) -> QualityCollector:
    """What is served: every exported figure of the live state."""
    reader = reader_of(settings)
    return QualityCollector(
        reader,
        time.time,
        published(settings.definitions),
        settings.maturity_minutes,
        reader_errors=(RedisError, OtherMeaning, OSError),
        freshness=reader,
        vocabularies=settings.vocabularies,
    )


def export(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    server = serve(collector(settings), settings.exporter_port)
    log.info("serving figures", port=server.server_port)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    server.shutdown()
    server.server_close()
