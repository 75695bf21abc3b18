"""Health for supervisors, on the port that serves metrics: `/livez` and `/readyz`.

Rules:
- 200 means yes, 503 no; the body is one plain line that says why. Neither names an event or a user.
- Live: the process can still do something; if not, restart it. Ready: it does its part now; if not, wait.
- They are answered by the thread of the metrics server, so that a stuck worker can still say that it is.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Verdict(NamedTuple):
    """Yes or no, and why."""

    ok: bool
    reason: str


Check = Callable[[], Verdict]
Checks = Mapping[str, Check]  # path -> check
NO_CHECKS: Final[Checks] = {}
STATUS: Final = {True: "200 OK", False: "503 Service Unavailable"}


def checks_of(live: Check, ready: Check) -> Checks:
    """The two checks under their paths."""
    return {"/livez": live, "/readyz": ready}


def with_health(application: "WSGIApplication", checks: Checks) -> "WSGIApplication":
    """The application, with these paths answered by their checks."""

    def answer(environment: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        check = checks.get(environment.get("PATH_INFO", ""))
        if check is None:
            return application(environment, start)
        ok, reason = check()
        start(STATUS[ok], [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
        return [f"{' '.join(reason.split())}\n".encode()]

    return answer
