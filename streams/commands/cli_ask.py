"""The commands that answer questions: each is a few lines here and a module beside this one."""

from pathlib import Path

import click

from streams.commands.options import AS_JSON, AS_OF, FILES, FILES_OR_LIVE, run


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
@click.option("--compare", metavar="PREFIX", help="Print what differs in another state; code 1 if any does.")
def report(as_of: int | None, as_json: bool, compare: str | None) -> None:
    """Print every figure of the live state, as of now or of any time that Redis still holds."""
    from streams.commands.compare import compare_states
    from streams.commands.report import report as command

    if compare is None:
        run(lambda settings: command(settings, as_of, as_json))
    else:
        run(lambda settings: compare_states(settings, compare, as_of, as_json))


@click.command(short_help="What the logged fields allow, and what is unsafe.")
@FILES_OR_LIVE
@AS_JSON
def doctor(files: tuple[Path, ...], as_json: bool) -> None:
    """Which figures the logged fields allow, what is wrong with the events, and what to do.

    From FILES (JSON lines), or without any from the live state; then also what is unsafe about Redis, the
    topics and the settings. It ends with code 1 if it finds a problem, with 0 on warnings and notes alone.
    """
    from streams.commands.doctor import doctor as command

    run(lambda settings: command(settings, files, as_json))


@click.group(short_help="Why is it counted so?")
def explain() -> None:
    """Why is it counted so? The whole chain, in words and as JSON."""


@explain.command("retrieval")
@click.argument("retrieval_id")
@FILES_OR_LIVE
@AS_OF
@AS_JSON
def explain_retrieval(retrieval_id: str, files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """What is true of one retrieval and from which events, by which rules; from the live state or FILES."""
    from streams.commands.explain.asking import answer
    from streams.commands.explain.retrieval import explain_retrieval as command

    run(lambda settings: answer(command, settings, retrieval_id, files, as_of, as_json))


@explain.command("action")
@click.argument("action_id")
@FILES_OR_LIVE
@AS_OF
@AS_JSON
def explain_action(action_id: str, files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """Which retrievals one action is credited to, by which rule, or why to none; from live state or FILES.

    ACTION_ID is the event_id of the action, or `place:DOCUMENT/PLACEMENT` of a placement by somebody.
    """
    from streams.commands.explain.action import explain_action as command
    from streams.commands.explain.asking import answer

    run(lambda settings: answer(command, settings, action_id, files, as_of, as_json))


@explain.command("document")
@click.argument("document_id")
@FILES_OR_LIVE
@AS_OF
@AS_JSON
def explain_document(document_id: str, files: tuple[Path, ...], as_of: int | None, as_json: bool) -> None:
    """What was placed in one document, where it came from, and its actions; from live state or FILES."""
    from streams.commands.explain.asking import answer
    from streams.commands.explain.document import explain_document as command

    run(lambda settings: answer(command, settings, document_id, files, as_of, as_json))
