"""The commands that keep a deployment well: each is a few lines here and a module beside this one."""

import click

from attribution.parsing import REASONS
from streams.commands.options import AS_JSON, Instant, run
from streams.state.store import Partition

REASON = click.option("--reason", type=click.Choice(sorted([*REASONS, "duplicate"])), help="Only these.")


@click.command(short_help="Is anything of the state lost?")
@AS_JSON
def audit(as_json: bool) -> None:
    """Compare every bucket with the sum of what the entities count; code 1 if they differ.

    It reads the whole state once, while workers go on, and what differs a second time. The exporter does the
    same slowly and without end (lara_audit_drift).
    """
    from streams.commands.audit import audit_state as command

    run(lambda settings: command(settings, as_json))


@click.command(short_help="The state once more, beside the live one.")
@click.option("--prefix", "into", metavar="NEW", help="Of the new state; default: PREFIX-rebuilt.")
@click.option("--publish", is_flag=True, help="Publish outputs again: only if you then switch over.")
@click.option("--follow", is_flag=True, help="Do not end at the end of the log, but go on like a worker.")
def rebuild(into: str | None, publish: bool, follow: bool) -> None:
    """Read the topics from their beginning into a state of its own, beside the live one.

    It ends when all is read that was there when it began. Stopped, it goes on where it was when run again.
    """
    from streams.commands.rebuild import rebuild as command

    run(lambda settings: command(settings, into, publish, follow))


@click.group(short_help="What was refused, and sending it again.")
def deadletters() -> None:
    """What was refused and why; a record that would now be accepted can be sent again."""


@deadletters.command("list")
@REASON
@click.option("--since", type=Instant(), help="Only those published since then.")
@AS_JSON
def list_letters(reason: str | None, since: int | None, as_json: bool) -> None:
    """How many there are by reason, type and topic, and the latest."""
    from streams.commands.deadletter_pages import show_list as command

    run(lambda settings: command(settings, reason, since, as_json))


@deadletters.command("show")
@click.argument("key")
@click.option("--payload", is_flag=True, help="Print the record's value too: it may hold personal data.")
def show_letter(key: str, payload: bool) -> None:
    """All that is known of the dead letter whose KEY begins so, and whether its record is still there."""
    from streams.commands.deadletter_pages import show_one as command

    run(lambda settings: command(settings, key, payload))


@deadletters.command("replay")
@REASON
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@click.option(
    "--as-on-time", is_flag=True, help="Send late events with their event's time, so that they count."
)
def replay_letters(reason: str | None, dry_run: bool, as_on_time: bool) -> None:
    """Send the records again that would now be accepted, with their own time; twice changes nothing."""
    from streams.commands.deadletters import replay as command

    run(lambda settings: command(settings, reason, dry_run, as_on_time))


@click.group(short_help="How far reading has come.")
def watermarks() -> None:
    """How far the reading of every partition has come, and setting it deliberately."""


@watermarks.command("show")
@AS_JSON
def show_watermarks(as_json: bool) -> None:
    """The watermark of every partition, its log, and how far it is behind."""
    from streams.commands.watermarks import show as command

    run(lambda settings: command(settings, as_json))


@watermarks.command("set")
@click.argument("topic")
@click.argument("partition", type=click.IntRange(min=0))
@click.argument("offset", type=click.IntRange(min=0))
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option("--yes-lose-records", is_flag=True, help="Going forward: the records in between never count.")
def set_watermark(topic: str, partition: int, offset: int, dry_run: bool, yes_lose_records: bool) -> None:
    """Read PARTITION of TOPIC from OFFSET on. Going back changes no figure; workers may run."""
    from streams.commands.watermarks import set_watermark as command

    run(lambda settings: command(settings, Partition(topic, partition), offset, dry_run, yes_lose_records))
