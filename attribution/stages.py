"""Who speaks when: the layers of all kinds of entity, in the order in which a batch settles them.

Theory. An entity is the storage of one or more *layers*. A layer speaks from what its entity was sent and
what its earlier layers were told, and only later layers hear it; so knowledge runs one way although two
entities may speak to each other (a request tells its retrieval when the answer was shown, after the
retrieval told the request what was returned). The order of this table is that way.

Rules:
- A topic is heard by at most one layer of a kind. A kind's first layer is home to its event type.
- A topic's scope says what must be restated when a repeated statement arrives: all that the hearing layer
  says ("all"), or only what it says about the statement's own subject ("subject").
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from attribution import (
    actions,
    documents,
    inference,
    labels,
    need,
    outputs,
    placements,
    requests,
    retrievals,
    sessions,
)
from attribution.contribution import Contribution
from attribution.entities import Entity
from attribution.outputs import Output
from attribution.semantics import Semantics
from attribution.statements import Address, Content

Speak: TypeAlias = Callable[[str, Entity, Semantics], dict[Address, Content]]


class Layer(NamedTuple):
    """One layer: its kind of entity, the topics it hears, those it speaks under, and what it says."""

    name: str
    kind: str
    hears: tuple[str, ...]
    says: tuple[str, ...]
    speak: Speak


def _silent(identity: str, entity: Entity, semantics: Semantics) -> dict[Address, Content]:
    return {}


STAGES: Final = (
    Layer("prompt", "request", ("named",), ("request_excluded",), requests.speak_prompt),
    Layer(
        "placing",
        "placement",
        ("request_excluded",),
        ("placement", "asked", "placing"),
        placements.speak_placement,
    ),
    Layer("judging", "judgement", ("request_excluded",), ("label", "grade"), labels.speak_judgement),
    Layer(
        "intake",
        "action",
        ("request_excluded",),
        ("act", "show", "offer", "seen", "unresolved", "decision", "asked"),
        actions.speak_intake,
    ),
    Layer(
        "record",
        "retrieval",
        ("request_excluded", "asked", "linked", "link_excluded"),
        (
            "record",
            "retrieval_excluded",
            "lists",
            "fired",
            "reformulated",
            "asks",
            "listed",
            "linked",
            "link_excluded",
        ),
        retrievals.speak_record,
    ),
    Layer("query", "query", ("grade", "asks"), ("query_grades",), labels.speak_query),
    Layer("research", "conversation", ("fired",), ("researched",), need.speak_research),
    Layer(
        "document",
        "document",
        ("placement", "act", "retrieval_excluded"),
        ("act", "offer", "decision", "seen", "unresolved"),
        documents.speak_document,
    ),
    Layer(
        "turn",
        "request",
        ("record", "act", "show", "label", "retrieval_excluded"),
        ("shown", "offer", "decision", "routed", "goal", "unresolved"),
        requests.speak_turn,
    ),
    Layer(
        "infer",
        "session",
        ("listed", "seen", "unresolved"),
        ("guess", "decision", "offer"),
        inference.speak_inference,
    ),
    Layer("evidence", "retrieval", ("offer", "shown"), ("answer", "page_used"), retrievals.speak_evidence),
    Layer(
        "resolution",
        "action",
        ("decision", "answer", "guess", "placing"),
        ("acted", "outcome"),
        actions.speak_resolution,
    ),
    Layer("use", "request", ("lists", "acted"), ("substituted",), requests.speak_use),
    Layer(
        "verdict",
        "retrieval",
        (
            *("researched", "reformulated", "page_used", "substituted"),
            *("routed", "goal", "label", "grade", "query_grades"),
        ),
        ("ended",),
        retrievals.speak_verdict,
    ),
    Layer("abandonment", "session", ("ended", "outcome"), (), _silent),
)

WHOLE: Final = "all"
SUBJECT: Final = "subject"
SCOPES: Final[Mapping[str, str]] = {
    "named": SUBJECT,
    "request_excluded": WHOLE,
    "placement": WHOLE,
    "asked": SUBJECT,
    "placing": SUBJECT,
    "linked": SUBJECT,
    "link_excluded": WHOLE,
    "act": SUBJECT,
    "show": WHOLE,
    "record": WHOLE,
    "retrieval_excluded": WHOLE,
    "shown": WHOLE,
    "offer": SUBJECT,
    "decision": SUBJECT,
    "answer": SUBJECT,
    "lists": WHOLE,
    "fired": WHOLE,
    "researched": WHOLE,
    "reformulated": WHOLE,
    "page_used": WHOLE,
    "acted": WHOLE,
    "substituted": WHOLE,
    "label": WHOLE,
    "routed": WHOLE,
    "goal": WHOLE,
    "grade": WHOLE,
    "asks": WHOLE,
    "query_grades": WHOLE,
    "listed": WHOLE,
    "seen": SUBJECT,
    "unresolved": SUBJECT,
    "guess": SUBJECT,
    "ended": WHOLE,
    "outcome": WHOLE,
}

# Statements about the sender as a whole that sum over subjects: restated with any of them.
SUMS: Final = frozenset({"page_used", "ended", "outcome"})

# Event type -> the kind of its home.
HOMES: Final[Mapping[str, str]] = {
    "prompt": "request",
    "retrieval": "retrieval",
    "placement": "placement",
    "action": "action",
    "judgement": "judgement",
}


def _nothing(identity: str, entity: Entity, semantics: Semantics) -> Contribution:
    return {}


def _no_outputs(identity: str, entity: Entity, semantics: Semantics) -> list[Output]:
    return []


class Kind(NamedTuple):
    """What a kind of entity counts and announces, and whether the records of its identity may conflict."""

    contribute: Callable[[str, Entity, Semantics], Contribution] = _nothing
    outputs: Callable[[str, Entity, Semantics], list[Output]] = _no_outputs
    conflicts: bool = False


KINDS: Final[Mapping[str, Kind]] = {
    "request": Kind(requests.contribute, outputs.of_request, conflicts=True),
    "placement": Kind(),
    "judgement": Kind(),
    "action": Kind(actions.contribute, outputs.of_action),
    "retrieval": Kind(retrievals.contribute, outputs.of_retrieval, conflicts=True),
    "document": Kind(),
    "conversation": Kind(),
    "query": Kind(),
    "session": Kind(sessions.contribute),
}
