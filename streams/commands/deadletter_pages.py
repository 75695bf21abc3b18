"""What `lara deadletters list` and `show` print.

Rules:
- A payload is printed only with `payload`: it may hold personal data. It is that of the record if it is still
  there, else that of the dead letter, if the deployment puts payloads there.
"""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import click
import msgspec
from rich.console import Console
from rich.table import Table

from streams.commands.deadletters import DeadLetter, Original, counts, one, original, read
from streams.settings import Settings
from streams.topic_logs import Logs

RECENT: Final = 10


async def show_list(settings: Settings, reason: str | None, since: int | None, as_json: bool) -> None:
    """Print how many there are, and the latest."""
    async with Logs(settings.brokers) as logs:
        letters = await read(settings, logs, reason, since or 0)
    if as_json:
        click.echo(msgspec.json.encode(as_data(letters)).decode())
    elif not letters:
        click.echo("no dead letters")
    else:
        Console().print(_counts_table(letters), highlight=False)
        click.echo("\nthe latest")
        Console().print(_recent_table(letters[:RECENT]), highlight=False)


def as_data(letters: Sequence[DeadLetter]) -> dict[str, Any]:
    """For programs: all of them, without what they hold."""
    rows = [
        {"reason": reason, "type": kind, "topic": topic, "count": count}
        for (reason, kind, topic), count in counts(letters).most_common()
    ]
    return {"counts": rows, "letters": [msgspec.structs.replace(letter, value=None) for letter in letters]}


def _counts_table(letters: Sequence[DeadLetter]) -> Table:
    table = _table("reason", "type", "topic")
    table.add_column("n", justify="right")
    for labels, count in counts(letters).most_common():
        table.add_row(*labels, f"{count:,}")
    return table


def _recent_table(letters: Sequence[DeadLetter]) -> Table:
    table = _table("published", "reason", "key", "record")
    for letter in letters:
        where = "–" if letter.place is None else f"{letter.topic} {letter.partition} @ {letter.offset}"
        table.add_row(_instant(letter.at), letter.reason, letter.key[:40], where)
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


async def show_one(settings: Settings, key: str, payload: bool) -> None:
    """Print everything that is known of one dead letter."""
    async with Logs(settings.brokers) as logs:
        letter = await one(settings, key, logs)
        found = await original(letter, logs)
    for line in described(letter, found):
        click.echo(line)
    if payload:
        _print_payload(letter, found)


def described(letter: DeadLetter, found: Original) -> list[str]:
    """A dead letter and what became of its record, in lines."""
    known = msgspec.to_builtins(msgspec.structs.replace(letter, value=None, at=0))
    lines = [f"{name:<16} {value}" for name, value in known.items()]
    lines.append(f"{'published':<16} {_instant(letter.at)}")
    if found.record is None:
        return [*lines, f"{'record':<16} {found.missing.removeprefix('not sent: ')}"]
    there = f"still there, with the same SHA-256, of {_instant(found.record.timestamp)}"
    return [*lines, f"{'record':<16} {there}; --payload prints it"]


def _print_payload(letter: DeadLetter, found: Original) -> None:
    if found.record is not None:
        sys.stdout.buffer.write((found.record.value or b"") + b"\n")
    elif letter.value is not None:
        click.echo(letter.value)
    else:
        click.echo("the payload is nowhere any more", err=True)


def _instant(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
