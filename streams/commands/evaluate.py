"""`lara evaluate`: what every stage of a search finds of a set, and whether one is worse than another.

Rules:
- A list scores what Layer 1 gives it (`attribution/ranking.py`): what is printed here is what the live report
  says of the same lists.
- One table, a block a metric. A comparison is made only if asked for; code 1: some slice is surely worse.
- Grades go out as judgements of their query's text, under ids that come from what is said: published twice,
  they are the same events.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from attribution.ranking import BILLION, scores
from metrics.intervals import wilson
from metrics.report import instant
from streams.commands.backtest import NotKnown
from streams.commands.options import METRICS
from streams.commands.replay import records_of, send
from streams.settings import Settings

try:
    from assistant.documents import BadDocument, load
    from assistant.evaluation import (
        BadSet,
        Case,
        Difference,
        Scores,
        compare,
        evaluate,
        load_cases,
        slices,
        unknown_documents,
        with_reranker,
    )
    from assistant.index import Index
    from assistant.search import STAGES, Search
    from assistant.vectors import UniversalSentenceEncoder
except ImportError as missing:
    raise NotKnown(
        f"searching needs {missing.name}, which is not installed: pip install 'lara[assistant]'"
    ) from None

EXAMPLES: Final = Path(sys.modules["assistant"].__path__[0]) / "examples"
SHOWN: Final = ("R@5", "MRR", "NDCG@10", "P@1")
TOPICS: Final = "kafka"


class Mean(NamedTuple):
    """A mean over n queries with its 95 % bounds."""

    value: float
    lower: float
    upper: float
    n: int


class Asked(NamedTuple):
    """What was asked for: two stages or a saved file to compare, by which metric, and where grades go."""

    baseline: str | None
    candidate: str
    metric: str
    save: Path | None
    publish: str | None
    as_json: bool


def layer_one(ranked: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """What a list scores, by `METRICS`."""
    found = scores(ranked, grades)
    if found is None or found.reciprocal_rank is None:
        raise ValueError("a case has a relevant document")
    whole = {
        **{f"R@{k}": value for k, value in found.recall.items()},
        **{f"NDCG@{k}": value for k, value in found.ndcg.items()},
        **{f"P@{k}": value for k, value in found.precision.items()},
        "MRR": found.reciprocal_rank,
    }
    return {name: whole[name] / BILLION for name in METRICS}


def run(settings: Settings, sets: Sequence[Path], documents: Sequence[Path], asked: Asked) -> None:
    """Evaluate, print, and compare; ends with code 1 for a regression."""
    try:
        cases = load_cases(sets or [EXAMPLES / "queries.jsonl"])
        search = Search(Index(load(documents or [EXAMPLES / "documents.jsonl"]), UniversalSentenceEncoder()))
        if unknown := unknown_documents(search, cases):
            raise BadSet(f"graded, but in no document: {', '.join(unknown)}")
        scored = evaluate(with_reranker(search, cases), cases, layer_one)
    except (BadDocument, BadSet, ValueError) as error:
        raise NotKnown(str(error)) from None
    differences = _compared(cases, scored, asked) if asked.baseline else []
    if asked.as_json:
        _print_json(cases, scored, differences)
    else:
        _print_table(cases, scored)
        _print_differences(differences, asked)
    if asked.save:
        saved = {case.query: one[asked.candidate] for case, one in zip(cases, scored, strict=True)}
        asked.save.write_bytes(msgspec.json.format(msgspec.json.encode(saved)) + b"\n")
    if asked.publish:
        _publish(settings, cases, asked.publish)
    if any(one.regressed for one in differences):
        sys.exit(1)


def _compared(cases: Sequence[Case], scored: Scores, asked: Asked) -> list[Difference]:
    """The candidate against a stage of this run, or against what a file says of the same queries."""
    candidate = [one[asked.candidate][asked.metric] for one in scored]
    if asked.baseline in STAGES:
        baseline = [one[asked.baseline][asked.metric] for one in scored]
        return compare(baseline, candidate, slices(cases))
    try:
        saved = msgspec.json.decode(Path(asked.baseline or "").read_bytes(), type=dict[str, dict[str, float]])
        baseline = [saved[case.query][asked.metric] for case in cases]
    except KeyError as missing:
        raise NotKnown(f"{asked.baseline} does not know {missing}: save a baseline of this set") from None
    except msgspec.MsgspecError as error:
        raise NotKnown(f"{asked.baseline} is no saved baseline: {error}") from None
    return compare(baseline, candidate, slices(cases))


def _print_table(cases: Sequence[Case], scored: Scores) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("metric", "slice", "n"):
        table.add_column(name, justify="right" if name == "n" else "left")
    for stage in STAGES:
        table.add_column(stage if stage != STAGES[-1] else "reranked*", justify="right")
    for metric in SHOWN:
        for name, members in slices(cases).items():
            cells = [_cell([scored[number][stage][metric] for number in members]) for stage in STAGES]
            table.add_row(metric, name, str(len(members)), *cells, end_section=name == "all")
    Console().print(table)
    click.echo("95 % bounds. * TrainedOnOtherHalf: each half of the queries by a model trained on the other.")


def mean(values: Sequence[float]) -> Mean:
    """The mean of scores between 0 and 1. Raises ValueError for none."""
    interval = wilson(sum(values), len(values))
    if interval is None:
        raise ValueError("no score has no mean")
    return Mean(sum(values) / len(values), *interval, len(values))


def _cell(values: Sequence[float]) -> str:
    found = mean(values)
    return f"{found.value:.2f} {found.lower:.2f}–{found.upper:.2f}"


def _print_differences(differences: Sequence[Difference], asked: Asked) -> None:
    if not differences:
        return
    click.echo(f"\n{asked.candidate} against {asked.baseline} by {asked.metric}, p by permutation and Holm:")
    for one in differences:
        counts = f"{one.better} better, {one.worse} worse of {one.n}"
        told = "  WORSE" if one.regressed else ""
        click.echo(f"  {one.slice:<12} {one.mean:+.3f}  p {one.p:.4f}  {counts}{told}")


def _print_json(cases: Sequence[Case], scored: Scores, differences: Sequence[Difference]) -> None:
    found = [
        {"metric": metric, "slice": name, "stage": stage, **mean(values)._asdict()}
        for metric in METRICS
        for name, members in slices(cases).items()
        for stage in STAGES
        for values in [[scored[number][stage][metric] for number in members]]
    ]
    compared = [{**one._asdict(), "regressed": one.regressed} for one in differences]
    click.echo(msgspec.json.encode({"means": found, "differences": compared}))


def judgements(cases: Sequence[Case], ts: int) -> Iterator[dict[str, Any]]:
    """The grades as events: a query's text, a document, a grade."""
    for case in cases:
        for asset_id, grade in case.grades.items():
            said = msgspec.json.encode([case.query, asset_id, grade])
            yield {
                "type": "judgement",
                "event_id": f"evaluation-{blake2b(said, digest_size=16).hexdigest()}",
                "ts": instant(ts),
                "kind": "relevance",
                "query": case.query,
                "asset_id": asset_id,
                "grade": grade,
                "judge": "human",
            }


def _publish(settings: Settings, cases: Sequence[Case], where: str) -> None:
    lines = [msgspec.json.encode(event) for event in judgements(cases, int(time.time() * 1000))]
    if where == TOPICS:
        asyncio.run(send(settings.brokers, settings.prefix, records_of(lines)))
    else:
        Path(where).write_bytes(b"".join(line + b"\n" for line in lines))
    click.echo(f"published {len(lines):,} judgements to {where}", err=True)
