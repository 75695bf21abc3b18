"""Logs of what runs for long: one JSON object a line on standard error, or readable lines on a terminal.

Rules:
- A line names topics, partitions, offsets, counts and errors; never a value of an event, nor a user.
- Tracebacks come without local variables, since those hold events.
- Kafka's and Faust's own logs go the same way, from warnings upwards.
"""

import logging
import sys
from typing import Final

import structlog

LIBRARIES: Final = ("aiokafka", "faust", "mode")


def start_logging() -> None:
    """Let structlog and the standard library log alike."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering()],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)


def _rendering() -> list[structlog.typing.Processor]:
    if sys.stderr.isatty():
        return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
