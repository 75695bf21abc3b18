"""What a runbook holds. Steps are one line each, in their order; commands stand in code type."""

from typing import NamedTuple


class Runbook(NamedTuple):
    """What it means, what it does to users, how to find the cause, what to do, and when it is wrong."""

    meaning: str
    impact: str
    diagnosis: tuple[str, ...]
    mitigation: tuple[str, ...]
    false_positives: tuple[str, ...]
