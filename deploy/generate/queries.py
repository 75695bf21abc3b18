"""From a figure of the catalogue to PromQL: what a panel asks, added up over what it does not show.

Rules:
- There are no series for "all": a share is the sum of its numerators over the sum of its denominators, never
  a mean of shares. Which published counts these are follows from the catalogue's own formulas.
- Where the numerator is no published count, it is the share times its denominator, which is the same number.
- Where the denominator is no published count either, nothing can be added up: the figure is shown by all the
  labels that it has, and beside it a published count that n cannot exceed (`AT_MOST`).
- An empty denominator gives no value, never NaN: it is asked to be above 0.
- Figures with cohorts are read `settled` where they have it. The window is the dashboard's variable where the
  exporter prints all windows, else 24 hours.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from attribution.contribution import LINEAGE_FIELDS
from metrics.catalogue import CATALOGUE
from metrics.intervals import Z
from metrics.schema import Figure, Kind, Sum
from metrics.scopes import FIVE, JUDGED, MASKED
from metrics.windows import LIVE, SETTLED

FIGURES: Final[Mapping[str, Figure]] = {figure.name: figure for figure in CATALOGUE}
DAY: Final = "24h"
CHOSEN: Final = "$window"
# Labels with a variable of the dashboard: how a selector names it.
VARIABLES: Final = {"role": "=~", "surface": "=~", "definition": "="}

# Published counts, by the sum of counters that they print.
COUNTS: Final[Mapping[Sum, str]] = {
    figure.formula.numerator: figure.name
    for figure in CATALOGUE
    if figure.formula.kind is Kind.COUNT and figure.exported.live
}
# Sums that are one published count restricted to some values of a label.
RESTRICTED: Final[Mapping[Sum, tuple[str, str]]] = {
    MASKED: ("lara_diagnosis_retrievals", 'verdict="masked"'),
    JUDGED: ("lara_diagnosis_retrievals", 'verdict!~"pending|unjudged"'),
}
# Shares whose denominator is not published: a published count that it cannot exceed.
AT_MOST: Final[Mapping[str, str]] = {
    "lara_missed_retrieval_ratio": "lara_intent_labelled_prompts",
    "lara_search_reformulation_ratio": "lara_prompts",
    "lara_downstream_correction_ratio": "lara_prompts",
    "lara_clicks_per_grid": "lara_retrievals",
    "lara_ctr_ratio": "lara_retrievals",
    "lara_session_abandonment_ratio": "lara_sessions",
    "lara_inference_disagreement_ratio": "lara_actions",
}
LINEAGE: Final = "lara_lineage_coverage_ratio"
# Fields that are due on retrievals; the others are due on actions.
OF_RETRIEVALS: Final = ("returned_asset_ids", "role", "request_id")


class Ask(NamedTuple):
    """A figure, the labels it is shown by, and the values of labels it is restricted to."""

    figure: Figure
    by: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    cohort: str = SETTLED

    @property
    def window(self) -> str:
        """The window that is read, a variable if the exporter prints all windows of all that is read."""
        read = [FIGURES[name] for name in _read_by(self)] or [self.figure]
        return CHOSEN if all(set(FIVE) <= set(_windows(one, self.cohort)) for one in read) else DAY


def ask(name: str, *by: str, cohort: str = SETTLED, **where: str) -> Ask:
    """A figure by its name. Raises KeyError if the catalogue has none, or the exporter does not print it."""
    figure = FIGURES[name]
    if not _windows(figure, cohort):
        raise KeyError(f"{name} is not exported in cohort {cohort}")
    return Ask(figure, by, tuple(where.items()), cohort)


def value(asked: Ask) -> str:
    """The figure itself."""
    if asked.figure.formula.kind is Kind.COUNT:
        return _sum(asked, asked.figure)
    if not is_additive(asked):
        return f"max{_by(asked)} ({_selected(asked, asked.figure)})"
    return f"{_numerator(asked)} /{_matching(asked)} ({_denominator(asked)} > 0)"


def lower(asked: Ask) -> str:
    """The lower 95 % bound (Wilson) of a share of counts."""
    return f"clamp_min({_wilson(asked, '-')}, 0)"


def upper(asked: Ask) -> str:
    """The upper 95 % bound (Wilson) of a share of counts."""
    return f"clamp_max({_wilson(asked, '+')}, 1)"


def n(asked: Ask) -> str:
    """Of how many; of at most how many, where `AT_MOST` names the figure."""
    if is_additive(asked):
        return _denominator(asked)
    if asked.figure.name == LINEAGE:
        return " or ".join(lineage_n(asked, field) for field in LINEAGE_FIELDS)
    counted = FIGURES[AT_MOST[asked.figure.name]]
    by = tuple(label for label in asked.by if label in counted.label_names)
    return _sum(Ask(counted, by, (), LIVE), counted, asked.window)


def is_additive(asked: Ask) -> bool:
    """Can the figure be added up over labels? Then its n is exact, too."""
    return _count_of(asked.figure.formula.denominator) is not None


def has_interval(asked: Ask) -> bool:
    """Is it a share of counts that can be added up?"""
    return asked.figure.formula.kind is Kind.RATIO and is_additive(asked)


def _read_by(asked: Ask) -> Iterator[str]:
    """The published counts that a share is made of, and the share itself where it takes part in that."""
    formula = asked.figure.formula
    if formula.kind is not Kind.COUNT and is_additive(asked):
        yield _denominator_of(asked)[0]
        parts = _parts(formula.numerator)
        yield from [name for _, (name, _) in parts] or [asked.figure.name]


def _count_of(terms: Sum) -> tuple[str, str] | None:
    """The published count of a sum, and what it is restricted to."""
    if terms in RESTRICTED:
        return RESTRICTED[terms]
    return (COUNTS[terms], "") if terms in COUNTS else None


def _parts(terms: Sum) -> list[tuple[str, tuple[str, str]]]:
    """The published counts that a sum is made of, each with its sign; empty if they are not all there."""
    whole = _count_of(terms)
    if whole:
        return [("+", whole)]
    found = [("+" if term.sign > 0 else "-", _count_of((term._replace(sign=1),))) for term in terms]
    known = [(sign, one) for sign, one in found if one]
    return known if len(known) == len(found) else []


def _numerator(asked: Ask) -> str:
    terms = asked.figure.formula.numerator
    parts = _parts(terms)
    if parts:
        signed = [f"{sign} {_sum(asked, FIGURES[name], extra=extra)}" for sign, (name, extra) in parts]
        text = " ".join(signed).removeprefix("+ ")
        return text if len(parts) == 1 else f"({text})"
    name, extra = _denominator_of(asked)
    counted = FIGURES[name]
    labels = ", ".join(label for label in counted.scope.group.labels)
    share, count = _selected(asked, asked.figure), _selected(asked, counted, extra=extra)
    return f"sum{_by(asked)} ({share} * on ({labels}) group_left () {count})"


def _denominator(asked: Ask) -> str:
    name, extra = _denominator_of(asked)
    counted = FIGURES[name]
    by = tuple(label for label in asked.by if label in counted.label_names)
    return _sum(asked._replace(by=by), counted, extra=extra)


def _matching(asked: Ask) -> str:
    """How a numerator finds its denominator, which may have fewer labels."""
    counted = FIGURES[_denominator_of(asked)[0]]
    own = [label for label in asked.by if label not in counted.label_names]
    return f" ignoring ({', '.join(own)}) group_left ()" if own else ""


def _denominator_of(asked: Ask) -> tuple[str, str]:
    found = _count_of(asked.figure.formula.denominator)
    assert found is not None, asked.figure.name
    return found


def lineage_n(asked: Ask, field: str) -> str:
    """How many retrievals or actions there were: at most so many had the field due."""
    name, cohort = ("lara_retrievals", 'cohort="live", ') if field in OF_RETRIEVALS else ("lara_actions", "")
    return f'label_replace(sum ({name}{{{cohort}window="{asked.window}"}}), "field", "{field}", "", "")'


def _wilson(asked: Ask, sign: str) -> str:
    hits, trials = _numerator(asked), f"({_denominator(asked)} > 0)"
    spread = f"sqrt({hits} * ({trials} - {hits}) / {trials} + {Z * Z / 4:.9f})"
    return f"({hits} + {Z * Z / 2:.9f} {sign} {Z:.9f} * {spread}) / ({trials} + {Z * Z:.9f})"


def _sum(asked: Ask, counted: Figure, window: str = "", extra: str = "") -> str:
    return f"sum{_by(asked)} ({_selected(asked, counted, window, extra)})"


def _by(asked: Ask) -> str:
    return f" by ({', '.join(asked.by)})" if asked.by else ""


def _selected(asked: Ask, counted: Figure, window: str = "", extra: str = "") -> str:
    """A selector of one figure: window, cohort, the dashboard's variables, and what is asked for."""
    chosen = dict(asked.where)
    parts = [f'window="{window or asked.window}"']
    if counted.scope.cohorts:
        cohort = asked.cohort if asked.figure.scope.cohorts else LIVE
        parts.append(f'cohort="{_cohort(counted, cohort)}"')
    for label in (*counted.scope.group.labels, *counted.scope.labels):
        if label in chosen:
            parts.append(f'{label}="{chosen[label]}"')
        elif label in VARIABLES and not (label == "definition" and label in asked.by):
            parts.append(f'{label}{VARIABLES[label]}"${label}"')
    return f"{counted.name}{{{', '.join([*parts, *([extra] if extra else [])])}}}"


def _cohort(figure: Figure, wanted: str) -> str:
    return wanted if wanted in figure.scope.cohorts else figure.scope.cohorts[0]


def _windows(figure: Figure, cohort: str) -> tuple[str, ...]:
    return figure.exported.windows(_cohort(figure, cohort) if figure.scope.cohorts else None)
