"""`lara`: the only entry point. Each command is a few lines here and a module beside this one.

Rules:
- Figures go to standard output; progress, intake counts and logs to standard error.
- A mistake of the caller ends with one sentence and code 2; a service out of reach with one and code 1.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from streams.settings import Settings, SettingsError, read_settings


class Instant(click.ParamType):
    """RFC 3339 with an offset, a day (its first instant, UTC), or whole milliseconds since the epoch."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        """Milliseconds since the epoch."""
        if isinstance(value, int):
            return value
        if value.isascii() and value.isdigit():
            return int(value)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is no time: give 2026-03-02, 2026-03-02T10:00:00Z or milliseconds", param, context
            )
        if moment.tzinfo is None and len(value) > len("2026-03-02"):
            self.fail(f"{value!r} has no offset: add Z or +01:00", param, context)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)


FILES = click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
AS_OF = click.option("--as-of", type=Instant(), help="The time asked about, e.g. 2026-03-02T10:00:00Z.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


@contextmanager
def plain_errors() -> Iterator[None]:
    """What a user can mend is told in a sentence, not in a traceback."""
    from aiokafka.errors import KafkaConnectionError, KafkaError
    from redis import ConnectionError as RedisConnectionError
    from redis import RedisError

    from streams.commands.backtest import NotKnown
    from streams.services import ServiceError
    from streams.state.store import OtherMeaning, UnsafeStore

    try:
        yield
    except SettingsError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except NotKnown as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except KafkaConnectionError as error:
        click.echo(f"Kafka does not answer (setting `bootstrap`): {error}", err=True)
        sys.exit(1)
    except RedisConnectionError as error:
        click.echo(f"Redis does not answer (setting `redis_url`): {error}", err=True)
        sys.exit(1)
    except (KafkaError, RedisError, OtherMeaning, UnsafeStore, ServiceError, OSError) as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)


def run(action: Callable[[Settings], Any], **given: Any) -> Any:
    """Read the settings, then act."""
    with plain_errors():
        found = action(read_settings(**given))
        return asyncio.run(found) if asyncio.iscoroutine(found) else found


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="lara")
def main() -> None:
    """Does retrieval inside an AI assistant work? Live, exact figures from its events.

    Start with `lara demo`, or with `lara backtest FILE` on a log of your own. Settings come from the
    environment (LARA_…) and from lara.toml; docs/settings.md lists them.
    """


@main.command(short_help="Every figure from event files alone.")
@FILES
@AS_OF
@AS_JSON
def backtest(files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """Compute every figure from event files alone (JSON lines): no broker, no Redis.

    Without --as-of the figures are those at the latest event. Every line counts as on time.
    """
    from streams.commands.backtest import backtest as command

    run(lambda settings: command(settings, files, as_of, as_json))


@main.command(short_help="Every figure of the live state.")
@AS_OF
@AS_JSON
def report(as_of: int | None, as_json: bool) -> None:
    """Print every figure of the live state, as of now or of any time that Redis still holds."""
    from streams.commands.report import report as command

    run(lambda settings: command(settings, as_of, as_json))


@main.command(short_help="Read events, keep the state.")
def worker() -> None:
    """Read events from Kafka and keep the state in Redis, until SIGTERM. Start as many as you need."""
    from streams.commands.worker import work

    run(work)


@main.command(short_help="Serve the figures to Prometheus.")
def exporter() -> None:
    """Serve the figures to Prometheus, computed at each scrape. One process is enough."""
    from streams.commands.exporter import export

    run(export)


@main.command(short_help="Send event files to their topics.")
@FILES
@click.option("--rebase-to-now", is_flag=True, help="Shift all times so that the latest event is now.")
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), help="Records a second; default: all at once."
)
def replay(files: tuple[Path, ...], rebase_to_now: bool, rate: float | None) -> None:
    """Send event files to their topics; each record's timestamp is its event's own time."""
    from streams.commands.replay import replay as command

    run(lambda settings: command(settings, files, rebase_to_now, rate))


@main.group(short_help="Create the topics.")
def topics() -> None:
    """The topics that lara reads and writes."""


@topics.command("create")
def create() -> None:
    """Create the topics that are missing, and say where existing ones differ from what is wanted."""
    from streams.commands.topics import create as command

    run(command)


@main.group(short_help="Why is it counted so?")
def explain() -> None:
    """Why is it counted so? The whole chain, in words and as JSON."""


@explain.command("retrieval")
@click.argument("retrieval_id")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@AS_OF
@AS_JSON
def explain_retrieval(retrieval_id: str, files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """What is true of one retrieval and from which events, by which rules; from the live state or FILES."""
    from streams.commands.explain import explain_retrieval as command

    run(lambda settings: command(settings, retrieval_id, files, as_of, as_json))


@main.command(short_help="Simulated traffic through it all.")
@click.option("--seconds", type=click.IntRange(min=5), help="End after so long and print the report.")
@click.option("--seed", default=1, show_default=True, help="Of the simulated traffic.")
@click.option("--running", is_flag=True, help="Use the brokers that the settings name, not embedded ones.")
def demo(seconds: int | None, seed: int, running: bool) -> None:
    """Simulated assistant traffic through the whole pipeline, checked against the simulator's own truth."""
    from streams.commands.demo import demo as command

    run(lambda settings: command(settings, seconds, seed, running))
