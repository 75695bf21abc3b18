from collections import Counter

import msgspec
import pytest

from attribution.events import EVENT_TYPES
from attribution.semantics import FAILURE_SIGNALS
from metrics.catalogue import CATALOGUE
from metrics.readings import LAYERS
from metrics.schema import Kind

READINGS = [reading for layer in LAYERS for reading in layer.readings]
NAMES = {figure.name: figure for figure in CATALOGUE}
every_reading = pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.title)


def test_every_figure_belongs_to_exactly_one_reading():
    """Nothing in the catalogue is left unread or read twice, and nothing is read that is not there."""
    assert Counter(name for reading in READINGS for name in reading.figures) == dict.fromkeys(NAMES, 1)


def test_layers_stand_in_the_order_of_the_framework():
    """0, 1, 2, both together, 3, and what stands beside them."""
    assert [layer.title for layer in LAYERS] == [
        *("Layer 0: prompts", "Layer 1: lists", "Layer 2: evidence", "Layers 1 and 2 together"),
        *("Layer 3: outcomes", "Sessions", "Lineage", "Cost"),
    ]


def test_titles_are_told_apart():
    """Each becomes a heading, and a link to it must lead to one place."""
    titles = [layer.title for layer in LAYERS] + [reading.title for reading in READINGS]
    assert len(titles) == len({title.lower() for title in titles})


@every_reading
def test_fields_are_those_of_the_events(reading):
    """What a family needs is something that a producer can send."""
    fields = [field.split(".") for field in reading.fields]
    assert fields
    for event, name in fields:
        assert name in {field.name for field in msgspec.structs.fields(EVENT_TYPES[event])} - {"digest"}


@every_reading
def test_a_ratio_s_family_says_of_what(reading):
    """Only a family of counts alone may have no denominator, and then it says so."""
    kinds = {NAMES[name].formula.kind for name in reading.figures}
    assert reading.denominator.startswith("None: ") == (kinds == {Kind.COUNT})


@every_reading
def test_texts_are_sentences(reading):
    """Sentences end with a full stop; causes are parts of one, and get theirs on the page."""
    sentences = [reading.population, reading.numerator, reading.denominator, *reading.misuses]
    assert all(
        text.endswith(".") for text in [*sentences, *([reading.published] if reading.published else [])]
    )
    assert reading.misuses
    assert not [cause for cause in reading.moves if cause.endswith(".") or not cause]


@pytest.mark.parametrize(
    ("figure", "numbers"),
    [
        ("lara_invocation_ratio", ("0.31 %", "10.7 %")),
        ("lara_null_ratio", ("1.51 %",)),
        ("lara_prompts_by_route", ("82 %",)),
        ("lara_search_reformulation_ratio", ("44.4 %", "33.1 %")),
        ("lara_gpr_ratio", ("10 %", "40 %")),
        ("lara_session_abandonment_ratio", ()),
    ],
)
def test_the_published_numbers_stand_at_their_figures(figure, numbers):
    """These families, and no other, quote the framework's example."""
    (published,) = (reading.published for reading in READINGS if figure in reading.figures)
    assert all(number in published for number in numbers)


def test_no_other_family_is_said_to_be_published():
    """Six families have a published value."""
    assert len([reading for reading in READINGS if reading.published]) == 6


def test_the_signals_of_failure_are_all_told():
    """ORF names every signal that there is."""
    (numerator,) = (reading.numerator for reading in READINGS if "lara_orf_ratio" in reading.figures)
    assert all(f"`{signal}`" in numerator for signal in FAILURE_SIGNALS)
