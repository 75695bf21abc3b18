"""`lara audit`: does the state hold what was counted? Code 1 if it does not."""

import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import click
import msgspec
from rich.console import Console
from rich.table import Table

from attribution.entities import Entity
from metrics.buckets import Counters
from streams.connections import contents_of
from streams.settings import Settings
from streams.state.audit import HOUR, MINUTE, Audit, Bucket, Contents, Drift, audit

SHOWN: Final = 20  # of the largest differences
MINUTE_SECONDS: Final = 60
SECONDS_OF: Final = {MINUTE: MINUTE_SECONDS, HOUR: 3600}
SAY_EVERY: Final = 10_000  # entities


def audit_state(settings: Settings, as_json: bool) -> None:
    """Audit the live state and print what was found."""
    contents = contents_of(settings)
    since = contents.whole_since(time.time())
    found = audit(_Telling(contents), settings.semantics, None if since is None else since // MINUTE_SECONDS)
    contents.close()
    if as_json:
        sys.stdout.write(msgspec.json.encode(as_data(found)).decode() + "\n")
    else:
        print_audit(found)
    if found.drift:
        sys.exit(1)


class _Telling:
    """Contents that tell how far their reading has come, on standard error."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def buckets(self, since: int | None) -> Iterator[tuple[Bucket, Counters]]:
        """As `Contents.buckets`."""
        sys.stderr.write("reading buckets\n")
        return self._contents.buckets(since)

    def entities(self) -> Iterator[Mapping[str, Entity]]:
        """As `Contents.entities`."""
        read = 0
        for page in self._contents.entities():
            before, read = read, read + len(page)
            if before // SAY_EVERY != read // SAY_EVERY:
                sys.stderr.write(f"read {read:,} entities\n")
            yield page


def as_data(found: Audit) -> dict[str, Any]:
    """For programs: everything."""
    rows = [{**msgspec.to_builtins(one), "at": _at(one)} for one in found.drift]
    plain = {**msgspec.to_builtins(found), "since": _since(found), "drift": rows}
    return {**plain, "size": found.size, "lost": found.lost}


def print_audit(found: Audit) -> None:
    """For people: what was compared, what is lost, and the largest differences."""
    since = "of all time" if found.since is None else f"since {_since(found)}; what is older may have expired"
    click.echo(f"compared: entities {found.entities:,} · minutes {found.minutes:,}, {since}")
    if found.changed:
        click.echo(f"not judged, since they were written meanwhile: buckets {found.changed:,}")
    if not found.drift:
        click.echo("no drift: the buckets hold what the entities say")
        return
    click.echo(f"drift: counters that differ {len(found.drift):,}, by {found.size:,} in all")
    if found.more:
        click.echo(f"not looked into: more buckets that differ {found.more:,}")
    for kind, count in found.lost.items():
        click.echo(f"lost: {kind} {count:,}")
    Console().print(_table(found), highlight=False)


def _table(found: Audit) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("bucket", "begins", "counter"):
        table.add_column(heading)
    for heading in ("must be", "is"):
        table.add_column(heading, justify="right")
    largest = sorted(found.drift, key=lambda one: -abs(one.expected - one.found))
    for one in largest[:SHOWN]:
        table.add_row(one.level, _at(one) or "", one.counter, f"{one.expected:,}", f"{one.found:,}")
    if len(largest) > SHOWN:
        table.add_row("…", "", f"{len(largest) - SHOWN:,} more: --json lists all")
    return table


def _at(drift: Drift) -> str | None:
    seconds = SECONDS_OF.get(drift.level)
    return None if seconds is None else _instant(drift.number * seconds)


def _since(found: Audit) -> str | None:
    return None if found.since is None else _instant(found.since * MINUTE_SECONDS)


def _instant(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%MZ}"
