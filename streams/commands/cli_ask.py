"""The commands that answer questions: each is a few lines here and a module beside this one."""

from pathlib import Path

import click

from streams.commands.options import AS_JSON, AS_OF, FILES, run


@click.command(short_help="Every figure from event files alone.")
@FILES
@AS_OF
@AS_JSON
def backtest(files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """Compute every figure from event files alone (JSON lines): no broker, no Redis.

    Without --as-of the figures are those at the latest event. Every line counts as on time.
    """
    from streams.commands.backtest import backtest as command

    run(lambda settings: command(settings, files, as_of, as_json))


@click.command(short_help="Every figure of the live state.")
@AS_OF
@AS_JSON
def report(as_of: int | None, as_json: bool) -> None:
    """Print every figure of the live state, as of now or of any time that Redis still holds."""
    from streams.commands.report import report as command

    run(lambda settings: command(settings, as_of, as_json))


@click.group(short_help="Why is it counted so?")
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
