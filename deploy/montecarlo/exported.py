"""From counts a minute to what the exporter would have printed, as OpenMetrics text to back-fill.

Rules:
- Windows, cohorts and bounds are those of the exporter; the settled cohort ends 30 minutes earlier.
- Only what the rules on shares read is written.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final, TextIO

from deploy.generate.promql import bounds, selector
from deploy.montecarlo.traffic import Cell
from metrics.figures import LOWER, UPPER
from metrics.windows import DEFAULT_HORIZON_MINUTES, WINDOW_MINUTES

STEP_MINUTES: Final = 5
Cells = Mapping[tuple[str, str], Cell]
Points = list[tuple[int, float]]  # minute and value


class Sums:
    """Sums of one count over any window."""

    def __init__(self, counts: list[int]) -> None:
        self._sums = [0, *accumulate(counts)]

    def over(self, window: str, end: int) -> int:
        """Of the window that ends with a minute; what lies before the start is 0."""
        start = end - (WINDOW_MINUTES[window] or 0)
        return self._sums[max(end, 0)] - self._sums[max(start, 0)]


def write(cells: Cells, start_seconds: int, out: TextIO) -> None:
    """Everything, sorted by family."""
    families: dict[str, list[tuple[str, Points]]] = {}
    for series, points in _all(cells):
        families.setdefault(series.partition("{")[0], []).append((series, points))
    for name in sorted(families):
        out.write(f"# TYPE {name} gauge\n")
        for named, points in families[name]:
            series = named.replace('", ', '",')  # OpenMetrics allows no space between labels
            out.writelines(f"{series} {value!r} {start_seconds + 60 * minute}\n" for minute, value in points)
    out.write("# EOF\n")


def _all(cells: Cells) -> Iterator[tuple[str, Points]]:
    for (role, surface), cell in cells.items():
        yield from _cell({"role": role, "surface": surface}, cell)
    yield from _missed(cells)
    yield from _lineage(cells)


def _cell(labels: Mapping[str, str], cell: Cell) -> Iterator[tuple[str, Points]]:
    counts = cell.counts
    for window in ("5m", "1h", "6h"):
        yield from _share("lara_null_ratio", counts["null"], counts["n"], window, labels, window == "1h")
        yield _count("lara_layer1_retrievals", counts["n"], window, labels)
    settled = {**labels, "cohort": "settled"}
    for window in ("5m", "1h", "6h", "24h"):
        yield _count("lara_retrievals", counts["n"], window, settled, DEFAULT_HORIZON_MINUTES)
        for name, count, own in (
            ("lara_orf_ratio", "failed", {}),
            ("lara_gpr_ratio", "positive", {"definition": "standard"}),
            ("lara_acr_ratio", "consumed", {}),
        ):
            exported = window in ("1h", "24h")
            yield from _share(
                name,
                counts[count],
                counts["n"],
                window,
                {**settled, **own},
                exported,
                DEFAULT_HORIZON_MINUTES,
            )
    for window in ("6h", "24h"):
        yield from _share(
            "lara_masked_failure_ratio", counts["masked"], counts["labelled"], window, labels, True
        )
        yield _count("lara_judged_retrievals", counts["labelled"], window, labels)
        yield from _share(
            "lara_ndcg_at_k", counts["ndcg"], counts["labelled"], window, {**labels, "k": "10"}, False
        )
        yield _count("lara_ranked_retrievals", counts["labelled"], window, labels)


def _missed(cells: Cells) -> Iterator[tuple[str, Points]]:
    for surface in {surface for _, surface in cells}:
        hits = _total(cells, "missed", surface)
        n = _total(cells, "labelled", surface)
        for window in ("1h", "24h"):
            labels = {"surface": surface}
            yield from _share("lara_missed_retrieval_ratio", hits, n, window, labels, True)
            yield _count("lara_intent_labelled_prompts", n, window, labels)


def _lineage(cells: Cells) -> Iterator[tuple[str, Points]]:
    n, actions = _total(cells, "n"), _total(cells, "actions")
    broken = {name: _total(cells, name) for name in ("dangling", "refuted")}
    rest = [all_ - sum(some) for all_, *some in zip(actions, *broken.values(), strict=True)]
    for window in ("5m", "1h"):
        for resolution, counts in {**broken, "explicit": rest}.items():
            yield _count("lara_actions", counts, window, {"resolution": resolution})
        yield _count("lara_retrievals", n, window, {"cohort": "live", "role": "all", "surface": "all"})
        for field, hits, of in (("role", "role", n), ("source_retrieval_id", "sourced", actions)):
            yield from _share(
                "lara_lineage_coverage_ratio", _total(cells, hits), of, window, {"field": field}, False
            )


def _total(cells: Cells, name: str, surface: str | None = None) -> list[int]:
    wanted = [cell.counts[name] for (_, where), cell in cells.items() if surface in (None, where)]
    return [sum(minute) for minute in zip(*wanted, strict=True)]


def _count(
    name: str, counts: list[int], window: str, labels: Mapping[str, str], behind: int = 0
) -> tuple[str, Points]:
    sums = Sums(counts)
    points = [
        (end, float(sums.over(window, end - behind)))
        for end in range(STEP_MINUTES, len(counts) + 1, STEP_MINUTES)
    ]
    return selector(name, window=window, **labels), points


def _share(
    name: str,
    hits: list[int],
    n: list[int],
    window: str,
    labels: Mapping[str, str],
    with_bounds: bool,
    behind: int = 0,
) -> Iterator[tuple[str, Points]]:
    """A share and, where they are exported, its bounds; where nothing is counted there is no point."""
    above, below = Sums(hits), Sums(n)
    found: dict[str, Points] = {"": [], LOWER: [], UPPER: []}
    for end in range(STEP_MINUTES, len(n) + 1, STEP_MINUTES):
        cases = below.over(window, end - behind)
        if cases:
            share = above.over(window, end - behind) / cases
            interval = bounds(share, cases) if with_bounds else (share, share)
            for suffix, value in zip(found, (share, *interval), strict=True):
                found[suffix].append((end, value))
    for suffix, points in found.items():
        if with_bounds or not suffix:
            yield selector(name + suffix, window=window, **labels), points
