import re
from pathlib import Path

import pytest

from metrics.catalogue import CATALOGUE
from metrics.own_readings import OWN_READINGS
from metrics.readings import LAYERS

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT.parent / "shared" / "contract.md"

# Every † of the contract by the words before it, and the reading that it is here.
IN_CONTRACT = {
    "resolved through itself": "Place as an action",
    "clock skew": "Clock skew",
    "whose list holds the asset itself": "The asset itself",
    "(also before `show` was seen": "Positive before shown",
    "**D, delegated use**": "Delegated use",
    "`substituted`": "Substituted",
    "Only the masked cell is in the source; the rest is": "Diagnosis",
}
# The contract asks for these and names neither figures nor stages.
UNNAMED = "Stages of latency and tokens"


def test_every_own_reading_of_the_contract_is_listed_and_no_other():
    """The list is that of the contract, with the one thing that it leaves unnamed."""
    assert [own.title for own in OWN_READINGS] == [*IN_CONTRACT.values(), UNNAMED]


@pytest.mark.skipif(not CONTRACT.is_file(), reason=f"{CONTRACT} is not here: it lies beside the project")
def test_every_dagger_of_the_contract_is_known():
    """A † that is added to the contract, or taken away, shows here."""
    _, text = CONTRACT.read_text("utf-8").split("† = ", 1)
    before = [part.rstrip() for part in text.split("†")[:-1]]
    assert len(before) == len(IN_CONTRACT)
    assert [words for part, words in zip(before, IN_CONTRACT, strict=True) if not part.endswith(words)] == []


def test_the_figures_that_are_own_readings_are_those_that_the_catalogue_marks():
    """† in the table of all figures and in the list of readings say the same."""
    marks = [name for own in OWN_READINGS for name in own.marks]
    assert sorted(marks) == sorted(figure.name for figure in CATALOGUE if figure.own_reading)


def test_a_family_is_moved_in_part_by_a_reading_that_it_is_not():
    """Titles are those of families; what is † itself is not moved by itself."""
    figures = {reading.title: reading.figures for layer in LAYERS for reading in layer.readings}
    for own in OWN_READINGS:
        assert own.marks or own.moves
        assert all(not {*figures[title]} <= {*own.marks} for title in own.moves)


def test_numbers_are_those_of_the_decisions():
    """Each reading is told to the end under a number that exists, about the same thing."""
    decisions = (ROOT / "docs/decisions.md").read_text("utf-8")
    told = dict(re.findall(r"^(\d+)\. (.+)$", decisions, re.MULTILINE))
    about = {
        1: "5 min",
        6: "Rule 4",
        7: "`place`",
        12: "Shows",
        16: "Substituted",
        22: "Diagnosis",
        25: "Latency",
        27: "Delegated",
    }
    for number in (number for own in OWN_READINGS for number in own.numbers):
        assert about[number] in told[str(number)]
