"""Health over HTTP: a status for machines, a reason for people."""

import urllib.error
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from metrics.exporter import serve
from metrics.health import Verdict, checks_of


@pytest.fixture
def asked():
    """Ask a server whose checks give these verdicts: a path's status and body."""
    verdicts = {"live": Verdict(True, "alive"), "ready": Verdict(True, "working")}
    checks = checks_of(lambda: verdicts["live"], lambda: verdicts["ready"])
    server = serve(CollectorRegistry(), 0, "127.0.0.1", checks)

    def ask(path, **changed):
        verdicts.update(changed)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    yield ask
    server.shutdown()
    server.server_close()


def test_yes_is_200_and_no_is_503_each_with_its_reason(asked):
    """The two checks do not mix."""
    assert asked("/livez") == (200, "alive\n")
    assert asked("/readyz", ready=Verdict(False, "no partition")) == (503, "no partition\n")
    assert asked("/livez") == (200, "alive\n")
    assert asked("/livez", live=Verdict(False, "stuck")) == (503, "stuck\n")


def test_a_reason_is_one_line(asked):
    """Whatever an error says of itself."""
    assert asked("/readyz", ready=Verdict(False, "two\n lines")) == (503, "two lines\n")


def test_metrics_are_served_as_before(asked):
    """Beside the checks, and under every other path."""
    assert asked("/metrics")[0] == 200
    assert asked("/")[0] == 200
