"""`lara exporter`: the figures for Prometheus, and a slow audit of the state that they are read from.

Rules:
- The audit runs here because there is one exporter: it costs Redis `audit_keys_per_second`, whoever scrapes.
- It goes round and round. What it cannot read now it reads later; the figures do not wait for it.
"""

import signal
import threading
import time
from functools import partial
from typing import Final

import structlog
from redis import RedisError

from metrics.audit_metrics import AuditCollector, Found
from metrics.exporter import QualityCollector, registry_of, serve
from metrics.health import Verdict, checks_of
from metrics.server_metrics import ServerCollector
from streams.connections import contents_of, reader_of
from streams.logs import start_logging
from streams.progress import told
from streams.settings import Settings, published
from streams.state.audit import audit
from streams.state.meaning import OtherMeaning
from streams.state.redis_buckets import RedisBuckets

log = structlog.get_logger()

UNREADABLE: Final = (RedisError, OtherMeaning, OSError)
REST_SECONDS: Final = 60.0  # between two audits, so that a small state is not read without end


def collector(settings: Settings) -> QualityCollector:
    """What is served: every exported figure of the live state."""
    reader = reader_of(settings)
    return QualityCollector(
        reader,
        time.time,
        published(settings.definitions),
        settings.maturity_minutes,
        reader_errors=UNREADABLE,
        freshness=reader,
        vocabularies=settings.vocabularies,
        on_failure=lambda error: log.error("no figures: the state cannot be read", reason=told(error)),
    )


def ready(reader: RedisBuckets) -> Verdict:
    """Can the state be read now?"""
    try:
        reader.confirm()
    except UNREADABLE as error:
        return Verdict(False, told(error))
    return Verdict(True, "the state can be read")


def export(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    start_logging()
    registry, audits = registry_of(collector(settings)), AuditCollector()
    registry.register(audits)
    registry.register(ServerCollector(reader_of(settings).memory, UNREADABLE))
    checks = checks_of(lambda: Verdict(True, "serving"), partial(ready, reader_of(settings)))
    server = serve(registry, settings.exporter_port, checks=checks)
    log.info("serving figures", port=server.server_port)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    if settings.audit_keys_per_second:
        threading.Thread(target=_keep_auditing, args=(settings, audits), daemon=True).start()
    ended.wait()
    server.shutdown()
    server.server_close()


def _keep_auditing(settings: Settings, audits: AuditCollector) -> None:
    contents = contents_of(settings, lambda keys: time.sleep(keys / settings.audit_keys_per_second))
    while True:
        try:
            since = contents.whole_since(time.time())
            found = audit(contents, settings.semantics, None if since is None else since // 60)
        except UNREADABLE as error:
            log.warning("the state cannot be audited now", error=repr(error))
        else:
            audits.found = Found(time.time(), found.size, found.entities, found.minutes)
            if found.drift:
                log.error("the state has lost or invented counts: run lara audit", lost=found.lost)
        time.sleep(REST_SECONDS)
