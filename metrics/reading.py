"""How to read a family of figures: what a formula alone does not say, as data.

Rules:
- A count, its ratio and its means belong together: they are one family, with one reading.
- Every figure of the catalogue is in exactly one family: a test compares. Formulas stay in the catalogue.
- Fields are those of the events without which the family says nothing, or something else.
- `published` quotes the framework's example; None where it says nothing of the family.
"""

from typing import Final, NamedTuple

NOT_PUBLISHED: Final = "Not published."


class Moves(NamedTuple):
    """What moves a family up or down, apart from luck: three causes to be told apart."""

    product: str
    logging: str
    model: str


class Reading(NamedTuple):
    """One family of figures, in words."""

    title: str
    figures: tuple[str, ...]
    population: str
    numerator: str
    denominator: str
    moves: Moves
    misuses: tuple[str, ...]
    fields: tuple[str, ...]  # as "event.field"
    published: str | None = None


class Layer(NamedTuple):
    """The families of one layer of the framework, in the order of the page."""

    title: str
    about: str
    readings: tuple[Reading, ...]
