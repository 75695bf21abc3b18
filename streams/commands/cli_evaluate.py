"""The commands that evaluate: what people judge, what is worst, what goes to other tools and programs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from attribution.events import EVENT_TYPES
from attribution.outputs import ATTRIBUTIONS, DEADLETTERS, OUTCOMES
from metrics.sampling import HIGHEST_SEED
from metrics.worst import SUBJECTS
from streams.commands.options import (
    AS_JSON,
    AS_OF,
    FILES_OR_LIVE,
    METRICS,
    SEED,
    STAGES,
    WINDOW,
    Instant,
    run,
)
from streams.commands.options import prompts as with_prompts
from streams.settings import Settings

LIMIT = click.option(
    "--n", "limit", type=click.IntRange(min=1), default=20, show_default=True, help="Rows of a table."
)
LEAST = click.option(
    "--min-n", "least", type=click.IntRange(min=1), default=5, show_default=True, help="Least cases of a row."
)


@click.group(short_help="Which queries and assets fail most?")
def worst() -> None:
    """Which queries and assets fail most? By the lower bound of the share, so that few cases do not win.

    Queries are what people typed: personal data.
    """


def _by(subjects: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    names = [measure.name for measure in SUBJECTS[subjects]]
    return click.option("--by", type=click.Choice(names), help="One table only; default: all.")


@worst.command("queries")
@FILES_OR_LIVE
@_by("queries")
@WINDOW
@LIMIT
@LEAST
@AS_OF
@AS_JSON
def worst_queries(files: tuple[Path, ...], as_json: bool, **asked: Any) -> None:
    """The worst queries of the live state or of FILES: null, rejected, searched again, masked, failed.

    Queries are what people typed: personal data. They are the same if they differ in case and white space
    only, and are shown as they were written most often.
    """
    _worst("queries", files, as_json, asked)


@worst.command("assets")
@FILES_OR_LIVE
@_by("assets")
@WINDOW
@LIMIT
@LEAST
@AS_OF
@AS_JSON
def worst_assets(files: tuple[Path, ...], as_json: bool, **asked: Any) -> None:
    """The worst assets of the live state or of FILES: rejected, first and not used, judged irrelevant."""
    _worst("assets", files, as_json, asked)


def _worst(subjects: str, files: tuple[Path, ...], as_json: bool, asked: dict[str, Any]) -> None:
    from streams.commands.worst import Asked
    from streams.commands.worst import worst as command

    run(lambda settings: command(settings, files, Asked(subjects, **asked), as_json))


@click.command(short_help="Draw retrievals at random for people to label.")
@FILES_OR_LIVE
@click.option(
    "--n",
    "number",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Retrievals of each stratum; all of one that has fewer.",
)
@click.option(
    "--by",
    type=click.Choice(["role", "surface", "none"]),
    default="role",
    show_default=True,
    help="What the strata are; none: all retrievals are one.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, HIGHEST_SEED),
    default=1,
    show_default=True,
    help="Another one draws others.",
)
@click.option(
    "--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Positions of a list to grade."
)
@click.option(
    "--show-verdict", "shows_verdict", is_flag=True, help="Add the diagnosis, which may sway judges."
)
@WINDOW
@AS_OF
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["csv", "jsonl"]),
    default="csv",
    show_default=True,
    help="For spreadsheets, or for programs.",
)
def sample(files: tuple[Path, ...], format_name: str, **design: Any) -> None:
    """Print a labelling sheet of retrievals drawn at random from the live state or FILES.

    Quiet and successful retrievals are drawn like failed ones. The weight of a row is how many retrievals
    of its stratum the row's retrieval stands for. Fill in grade (0: irrelevant), and once a retrieval
    retrieval_intents (retrievals that its prompt needed) and reached (true or false); `lara labels` reads
    the sheet back.

    Drawn are the smallest hashes of the retrieval_ids, keyed by the seed: the same retrievals give the same
    sheet, from files and from the live state. Queries are what people typed: personal data.
    """
    from streams.commands.sample import Design
    from streams.commands.sample import sample as command

    run(lambda settings: command(settings, files, Design(**design), format_name))


@click.command(short_help="Turn a filled sheet into judgement events.")
@click.argument("sheet", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--judge",
    default="human",
    show_default=True,
    help="Who judged; any other text than human is taken for a model, whose labels a human's beat.",
)
@click.option("--ts", type=Instant(), help="When it was judged; default: now.")
def labels(sheet: Path, judge: str, ts: int | None) -> None:
    """Print the judgement events of a filled SHEET of `lara sample`, one JSON object a line.

    They go where all events go: to a file for `lara backtest`, or to the topics with `lara replay`. Reading
    a sheet twice changes nothing: its events have the same ids. Empty cells are no answers. A cell that is
    wrong is named with its row, and then nothing is printed.
    """
    from streams.commands.labels import labels as command

    run(lambda settings: command(sheet, judge, ts))


@click.command(short_help="Retrievals with labels and verdicts, for evaluation elsewhere.")
@FILES_OR_LIVE
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["jsonl", "parquet", "ragas"]),
    default="jsonl",
    show_default=True,
    help="parquet needs pip install 'lara[parquet]'; ragas is its SingleTurnSample as JSON lines, ids only.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file; default: standard output."
)
@WINDOW
@AS_OF
def export(files: tuple[Path, ...], format_name: str, output: Path | None, **chosen: Any) -> None:
    """Write retrievals with query, list, used assets, labels and verdicts, from the live state or FILES.

    Excluded retrievals are left out; ragas gets those with a query, a list and a label. From FILES they come
    by time, from the live state in no order. A file takes its place only when it is whole.

    Every query is what somebody typed: personal data. Sessions and users are not exported.
    """
    from streams.commands.export import Choice
    from streams.commands.export import export as command

    if format_name == "parquet" and output is None:
        raise click.UsageError("parquet is no text: give --output FILE")
    run(lambda settings: command(settings, files, Choice(format_name, output, **chosen)))


@click.command(short_help="The schemas of events and outputs, for programs.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json-schema", "asyncapi"]),
    default="json-schema",
    show_default=True,
    help="JSON Schemas (2020-12), or one AsyncAPI 3.0 document with all topics.",
)
@click.option(
    "--type",
    "name",
    type=click.Choice([*EVENT_TYPES, ATTRIBUTIONS, OUTCOMES, DEADLETTERS]),
    help="Only the schema of this event or output.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write files into this folder, a schema each, instead of printing.",
)
def contract(form: str, name: str | None, output: Path | None) -> None:
    """Print what producers may send and what consumers get: docs/topics.md, for programs.

    Without --type the JSON Schemas are one object, by event type and output topic.
    """
    from streams.commands.contract import ASYNCAPI
    from streams.commands.contract import contract as command

    if form == ASYNCAPI and name is not None:
        raise click.UsageError("--type chooses a JSON Schema; the AsyncAPI document holds all")
    run(lambda settings: command(settings, form, name, output))


@click.command(short_help="The published figures, set and measured.")
@with_prompts(300_000)
@SEED
def study(prompts: int, seed: int) -> None:
    """Simulate an assistant set to the published figures, and compare its report with what was set.

    No broker, no Redis; some minutes. Fewer prompts give wider intervals. Ends with code 1 if a figure of the
    report is not exactly the simulator's truth.
    """
    from streams.commands.study import study as command

    run(lambda settings: command(settings, prompts, seed))


@click.command(short_help="What every stage of a search finds; is one worse?")
@click.argument("sets", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--documents",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What is searched, JSON lines or Markdown; may be given again. Default: the example.",
)
@click.option("--baseline", help="Compare with this stage, or with a file of --save.")
@click.option(
    "--candidate",
    type=click.Choice(STAGES),
    default="fused",
    show_default=True,
    help="The stage that is compared, and saved.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="NDCG@10",
    show_default=True,
    help="What is compared.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the candidate's scores, to be a baseline.",
)
@click.option(
    "--publish",
    metavar="kafka|FILE",
    help="Send the grades as judgements to the topics, or write them to a file.",
)
@AS_JSON
def evaluate(sets: tuple[Path, ...], documents: tuple[Path, ...], **asked: Any) -> None:
    """Search for the queries of SETS, and print recall, MRR, NDCG and precision of every stage by slice.

    A set is JSON lines: {"query": …, "grades": {id: 0 to 2}, "slice": …, "language": …, "groups": […]}.
    Without SETS it is the example, a small support knowledge base in English and Chinese.

    With --baseline the candidate is compared query by query, and code 1 says that a slice is surely worse: a
    gate for a build. Needs pip install 'lara[assistant]'.
    """

    def command(settings: Settings) -> None:
        from streams.commands.evaluate import Asked
        from streams.commands.evaluate import run as evaluated

        evaluated(settings, sets, documents, Asked(**asked))

    run(command)
