"""What the commands share: the arguments they take, and how a mistake or a missing service is told.

Rules:
- A mistake of the caller ends with one sentence and code 2; a service out of reach with one and code 1.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from metrics.windows import WINDOWS
from streams.settings import Settings, SettingsError, read_settings

# Stages of a search and scores of a list, as `lara evaluate` names them; the help needs no search installed.
STAGES: Final = ("keyword", "vector", "fused", "reranked")
METRICS: Final = ("R@5", "R@10", "MRR", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10")


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
FILES_OR_LIVE = click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
WINDOW = click.option(
    "--window",
    type=click.Choice(WINDOWS),
    default="all",
    show_default=True,
    help="Retrievals that fired in the last …; all: ever.",
)
AS_OF = click.option("--as-of", type=Instant(), help="The time asked about, e.g. 2026-03-02T10:00:00Z.")
SEED = click.option("--seed", default=1, show_default=True, help="Of the simulated traffic.")
LIKE = click.option(
    "--like",
    type=click.Choice(["demo", "published", "coverage"]),
    default="demo",
    show_default=True,
    help="A lively assistant, the published figures (docs/published.md), or every rule often.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def prompts(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """How many prompts to simulate."""
    number = click.IntRange(min=1)
    return click.option("--prompts", type=number, default=default, show_default=True, help="To be simulated.")


@contextmanager
def plain_errors() -> Iterator[None]:
    """What a user can mend is told in a sentence, not in a traceback."""
    from aiokafka.errors import KafkaConnectionError, KafkaError
    from redis import ConnectionError as RedisConnectionError
    from redis import RedisError

    from streams.commands.backtest import NotKnown
    from streams.commands.sheet import BadSheet
    from streams.services import ServiceError
    from streams.state.meaning import OtherMeaning
    from streams.state.store import UnsafeStore

    try:
        yield
    except SettingsError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except (NotKnown, BadSheet) as error:
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
