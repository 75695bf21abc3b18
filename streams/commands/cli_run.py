"""The commands that run the pipeline: each is a few lines here and a module beside this one."""

from pathlib import Path

import click

from streams.commands.options import FILES, run


@click.command(short_help="Simulated traffic through it all.")
@click.option("--seconds", type=click.IntRange(min=5), help="End after so long and print the report.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated traffic.")
@click.option("--running", is_flag=True, help="Use the brokers that the settings name, not embedded ones.")
def demo(seconds: int | None, seed: int, running: bool) -> None:
    """Simulated assistant traffic through the whole pipeline, checked against the simulator's own truth."""
    from streams.commands.demo import demo as command

    run(lambda settings: command(settings, seconds, seed, running))


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
