"""The parts of docs/ that are written from the code. `python -m tests.docs_pages` writes them all.

Rules:
- A section written from the code lies between `<!-- code: NAME -->` and `<!-- end -->` of a page. All around
  it is written by hand, in the page.
- `test_docs.py` compares every page with `text_of`, so neither the code nor the page can move alone.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

import click
import msgspec

from attribution.events import EVENT_TYPES, Common
from attribution.outputs import ATTRIBUTIONS, DEADLETTERS, OUTCOMES, Attribution, Outcome
from attribution.parsing import FORMS, JUDGEMENT_NEEDS, REASONS
from attribution.stages import SCOPES, STAGES, SUBJECT
from attribution.statements import Content
from metrics.definitions_page import definitions_markdown, index_markdown
from metrics.readings_page import own_readings_markdown
from metrics.worst import SUBJECTS
from streams.app import EXIT_SOFTWARE, EXIT_TEMPORARY
from streams.commands.cli import main
from streams.commands.replay import KINDS
from streams.settings import RETENTION_DAYS, settings_markdown
from streams.topics import RETENTION_MS, TOPICS, configuration
from tests import similar_queries
from tests.docs_printed import PRINTED, ROOT

WIDTH: Final = 100  # of help texts
SECTION: Final = re.compile(r"(<!-- code: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXIT_CODES: Final = (
    ("0", "done; of a worker or an exporter: stopped as asked (SIGTERM, SIGINT)"),
    (
        "1",
        "Kafka or Redis is out of reach or set up unsafely, a file cannot be read, what was asked for is not "
        "there, or the state was counted under other semantics; or what a command looks for was found: a "
        "problem (`lara doctor`), a wrong cell (`lara labels`), a figure that differs (`lara demo`)",
    ),
    ("2", "a setting or an argument is wrong"),
    (str(EXIT_SOFTWARE), "an error of the program: a worker ended at once, before its watermark moved"),
    (
        str(EXIT_TEMPORARY),
        "a worker got no answer from the broker while it joined, or could not stop within 10 seconds",
    ),
)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, without a line feed at its end."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sentence(documented: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def code(names: Iterable[str]) -> str:
    """Names in code type, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def layers_markdown() -> str:
    """The layers in their order: entity, what they hear, what they say."""
    rows = [
        (str(number), layer.name, layer.kind, code(layer.hears), code(layer.says), _speech(layer.speak))
        for number, layer in enumerate(STAGES, 1)
    ]
    return table(("", "layer", "of the entity", "hears", "says", "what it says"), rows)


def _speech(speak: Callable[..., object]) -> str:
    return sentence(speak) or "Nothing: what it has heard is the result."


def statement_topics_markdown() -> str:
    """The topics of statements: who says, who hears, what is said again when one comes again."""
    rows = [
        (f"`{topic}`", _speakers(topic), _hearers(topic), _again(scope)) for topic, scope in SCOPES.items()
    ]
    return table(("topic", "said by", "heard by", "heard again, the layer repeats"), rows)


def _speakers(topic: str) -> str:
    return ", ".join(layer.name for layer in STAGES if topic in layer.says) or "the event, on arrival"


def _hearers(topic: str) -> str:
    return ", ".join(f"{layer.name} ({layer.kind})" for layer in STAGES if topic in layer.hears)


def _again(scope: str) -> str:
    return "what it says about that subject" if scope == SUBJECT else "all that it says"


def contents_markdown() -> str:
    """What a statement can hold."""
    rows = [(f"`{content.__name__}`", sentence(content)) for content in get_args(Content)]
    return table(("content", "from whom to whom, and what it says"), rows)


def topics_markdown() -> str:
    """Topics, their configuration, the fields of events and outputs, and the reasons of dead letters."""
    parts = (
        _topic_table(),
        "Created by `lara topics create` with this configuration (with a replication of 1 and the default "
        f"retention of {RETENTION_DAYS} days; `LARA_REPLICATION`, `LARA_RETENTION_DAYS`):",
        _configuration_table(),
        "`segment.ms` follows the retention. `min.insync.replicas` is the replication less one, at least 1.",
        "## Fields of events",
        "**Bold** is required. An id is text of 1 to 256 code points, or a whole number. A timestamp is RFC "
        '3339 text with an offset, or whole milliseconds since the epoch. `null` and `""` mean absent. '
        "Unknown fields are ignored; a known field of the wrong type makes the record a dead letter.",
        _event_table(),
        f"A judgement also needs: {_judgement_needs()}.",
        "## Fields of outputs",
        "Sent at least once. Of several records with one key, that with the greatest `version` is the truth.",
        _output_table(),
        "## Why a record becomes a dead letter",
        table(("reason", "what it means"), [(f"`{reason}`", text) for reason, text in REASONS.items()]),
        "A dead letter names topic, partition, offset and SHA-256 of the record (or type, id and digest, if "
        "the record lost its id to another). It holds the value only if `LARA_DEADLETTER_PAYLOADS` is on.",
    )
    return "\n\n".join(parts) + "\n"


COMMON: Final = frozenset(field.name for field in msgspec.structs.fields(Common))
OUTPUT_RECORDS: Final[Mapping[str, str]] = {
    ATTRIBUTIONS: sentence(Attribution),
    OUTCOMES: sentence(Outcome),
    DEADLETTERS: "A record that is no event, came too late, or lost its id to another event.",
}


def _topic_table() -> str:
    events = {KINDS[name]: sentence(event) for name, event in EVENT_TYPES.items()}
    rows = [
        (
            f"`lara.{topic.kind}`",
            "in" if topic.is_input else "out",
            topic.cleanup,
            {**events, **OUTPUT_RECORDS}[topic.kind],
        )
        for topic in TOPICS
    ]
    return table(("topic", "direction", "cleanup", "one record is"), rows)


def _configuration_table() -> str:
    kept, compacted = (
        configuration(next(topic for topic in TOPICS if topic.cleanup == cleanup), RETENTION_MS, 1)
        for cleanup in ("delete", "compact")
    )
    rows = [(f"`{name}`", f"`{value}`", f"`{compacted.get(name, '–')}`") for name, value in kept.items()]
    return table(("setting", "topics kept by age", "compacted topics"), rows)


def _event_table() -> str:
    rows = [
        (f"`{name}`", ", ".join(_fields(name, common=True)), ", ".join(_fields(name, common=False)))
        for name in FORMS
    ]
    return table(("`type`", "fields of every type", "fields of its own"), rows)


def _fields(event_type: str, common: bool) -> Iterator[str]:
    form = FORMS[event_type]
    for name in form.converters:
        if (name in COMMON) == common:
            yield f"**`{name}`**" if name in form.required else f"`{name}`"


def _judgement_needs() -> str:
    return " · ".join(
        f"`{kind}`: {', '.join(' or '.join(f'`{name}`' for name in names) for names in needs)}"
        for kind, needs in JUDGEMENT_NEEDS.items()
    )


def _output_table() -> str:
    rows = [
        (f"`lara.{topic}`", f"`{key}`", code(field.name for field in msgspec.structs.fields(record)))
        for topic, key, record in (
            (ATTRIBUTIONS, "action_id", Attribution),
            (OUTCOMES, "retrieval_id", Outcome),
        )
    ]
    return table(("topic", "key", "fields"), rows)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name, groups before their members."""
    waiting: list[tuple[str, click.Command]] = [("lara", main)]
    while waiting:
        name, command = waiting.pop(0)
        yield name, command
        if isinstance(command, click.Group):
            waiting[:0] = [
                (f"{name} {member}", command.commands[member]) for member in sorted(command.commands)
            ]


def cli_markdown() -> str:
    """Exit codes, and the help of every command."""
    helps = (
        f"## {name}\n\n```\n{_help(name, command)}\n```\n" for name, command in commands() if name != "lara"
    )
    return "\n".join((table(("exit code", "what it means"), EXIT_CODES) + "\n", *helps))


def _help(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, terminal_width=WIDTH, **main.context_settings)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def similar_queries_markdown() -> str:
    """How the shadow signal of a similar query agrees with labelled pairs."""
    return table(similar_queries.HEADINGS, similar_queries.rows())


def measures_markdown() -> str:
    """What counts against queries and assets, and out of what."""
    rows = [
        (subjects, f"`{one.name}`", one.of, one.hits, one.cohort)
        for subjects, measures in SUBJECTS.items()
        for one in measures
    ]
    return table(("", "`--by`", "n", "count", "cohort"), rows)


SECTIONS: Final[Mapping[str, Callable[[], str]]] = {
    "layers": layers_markdown,
    "topics": statement_topics_markdown,
    "contents": contents_markdown,
    "settings": settings_markdown,
    "index": index_markdown,
    "definitions": definitions_markdown,
    "own": own_readings_markdown,
    "events": topics_markdown,
    "cli": cli_markdown,
    "similar": similar_queries_markdown,
    "measures": measures_markdown,
    **PRINTED,
}
PAGES: Final = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *ROOT.glob("docs/*.md"))
    if SECTION.search(page.read_text("utf-8"))
)


def text_of(page: str) -> str:
    """What a page should hold now."""
    return SECTION.sub(_filled, (ROOT / page).read_text("utf-8"))


def _filled(section: re.Match[str]) -> str:
    opening, name, closing = section.groups()
    return f"{opening}{SECTIONS[name]().rstrip()}\n{closing}"


if __name__ == "__main__":
    for page in PAGES:
        (ROOT / page).write_text(text_of(page), "utf-8")
