"""Log lines: JSON, one a line, from both logging libraries, and without what was in the variables."""

import json
import os
import subprocess
import sys

SECRET = "what-a-user-wrote"
PROGRAM = """
import logging, os, structlog
from streams.logs import start_logging
early = structlog.get_logger()
start_logging()
def broken(value):
    raise ZeroDivisionError("no")
early.warning("gap", partition=3)
logging.getLogger("streams.app").warning("after %d s", 7)
logging.getLogger("aiokafka.consumer").info("chatter")
logging.getLogger("faust").error("serious")
try:
    broken(os.environ["HELD"])
except ZeroDivisionError as error:
    logging.getLogger("streams.app").critical("ends", exc_info=error)
    structlog.get_logger().error("ends too", exc_info=True)
"""


def test_logs_are_json_lines_on_standard_error_without_local_variables():
    """Both libraries, one form; Kafka's and Faust's chatter is left out."""
    environment = {**os.environ, "HELD": SECRET}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.stdout == ""
    assert [(line["event"], line["level"]) for line in lines] == [
        ("gap", "warning"),
        ("after 7 s", "warning"),
        ("serious", "error"),
        ("ends", "critical"),
        ("ends too", "error"),
    ]
    assert lines[0]["partition"] == 3
    assert all("ZeroDivisionError: no" in line["exception"] for line in lines[-2:])
    assert SECRET not in done.stderr
    assert all(line["timestamp"].endswith("Z") for line in lines)
