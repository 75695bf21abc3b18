"""The commands that run the pipeline: each is a few lines here and a module beside this one."""

from pathlib import Path

import click

from streams.commands.options import FILES, LIKE, SEED, plain_errors, run
from streams.commands.options import prompts as with_prompts


@click.command(short_help="Simulated traffic through it all.")
@click.option("--seconds", type=click.IntRange(min=5), help="End after so long and print the report.")
@SEED
@LIKE
@click.option("--running", is_flag=True, help="Use the brokers that the settings name, not embedded ones.")
def demo(seconds: int | None, seed: int, like: str, running: bool) -> None:
    """Simulated assistant traffic through the whole pipeline, checked against the simulator's own truth."""
    from streams.commands.demo import Wanted
    from streams.commands.demo import demo as command

    run(lambda settings: command(settings, Wanted(seconds, seed, like), running))


@click.command(short_help="Simulated traffic to a file.")
@with_prompts(1_000)
@SEED
@LIKE
@click.option(
    "--days", type=click.IntRange(min=1), default=7, show_default=True, help="In which sessions begin."
)
def simulate(prompts: int, seed: int, like: str, days: int) -> None:
    """Write simulated assistant traffic to standard output, as JSON lines that backtest and replay read.

    The times are those of March 2026, so that the same options always give the same lines; what follows on a
    prompt may come up to three days after the last session began. Some lines are no events, as in real life.
    """
    from streams.commands.simulator import write

    with plain_errors():
        write(like, prompts, seed, days)


@click.command(short_help="Read events, keep the state.")
def worker() -> None:
    """Read events from Kafka and keep the state in Redis, until SIGTERM. Start as many as you need."""
    from streams.commands.worker import work

    run(work)


@click.command(short_help="Serve the figures to Prometheus.")
def exporter() -> None:
    """Serve the figures to Prometheus, computed at each scrape. One process is enough."""
    from streams.commands.exporter import export

    run(export)


@click.command(short_help="Send synthetic events, and see them come back.")
@click.option("--once", "only_once", is_flag=True, help="Send one; code 1 if it does not come back.")
def canary(only_once: bool) -> None:
    """Send a synthetic retrieval, placement and export through the real path, again and again.

    They are in no figure. Metrics tell how long they took to come back, and how many were lost.
    """
    from streams.commands.canary import keep, once

    run(once if only_once else keep)


@click.command(short_help="Send event files to their topics.")
@FILES
@click.option("--rebase-to-now", is_flag=True, help="Shift all times so that the latest event is now.")
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), help="Records a second; default: all at once."
)
def replay(files: tuple[Path, ...], rebase_to_now: bool, rate: float | None) -> None:
    """Send event files to their topics; each record's timestamp is its event's own time."""
    from streams.commands.replay import replay as command

    run(lambda settings: command(settings, files, rebase_to_now, rate))


@click.group(short_help="Create the topics.")
def topics() -> None:
    """The topics that lara reads and writes."""


@topics.command("create")
def create() -> None:
    """Create the topics that are missing, and say where existing ones differ from what is wanted."""
    from streams.commands.topics import create as command

    run(command)
