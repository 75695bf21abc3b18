"""The parts of docs/ that are written from the code. `python -m tests.docs_pages` writes them all.

Rules:
- A section written from the code lies between `<!-- code: NAME -->` and `<!-- end -->` of a page. All around
  it is written by hand, in the page.
- The files in docs/contract/ are written from the code altogether.
- `test_docs.py` compares every page with `text_of`, so neither the code nor the page can move alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, get_args

import click

from attribution.stages import SCOPES, STAGES, SUBJECT
from attribution.statements import Content
from deploy.generate.page import dashboards_markdown, thresholds_markdown
from deploy.generate.thresholds import thresholds
from metrics.definitions_page import definitions_markdown, index_markdown
from metrics.readings_page import own_readings_markdown
from metrics.worst import SUBJECTS
from streams.app import EXIT_SOFTWARE, EXIT_TEMPORARY
from streams.commands.cli import main
from streams.commands.contract import ASYNCAPI, JSON_SCHEMA, files
from streams.commands.set_figures import set_figures_markdown
from streams.settings import settings_markdown
from streams.topics import RETENTION_MS
from tests import similar_queries, worked_example
from tests.docs_markdown import code, sentence, table
from tests.docs_printed import PRINTED, ROOT, console
from tests.docs_topics import topics_markdown
from tests.faults import page as faults

CONTRACT: Final = ROOT / "docs/contract"
WIDTH: Final = 100  # of help texts
SECTION: Final = re.compile(r"(<!-- code: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXIT_CODES: Final = (
    ("0", "done; of a worker, an exporter or a canary: stopped as asked (SIGTERM, SIGINT)"),
    (
        "1",
        "Kafka or Redis is out of reach or set up unsafely, a file cannot be read, what was asked for is not "
        "there, or the state was counted under other semantics; or what a command looks for was found: a "
        "problem (`lara doctor`), a wrong cell (`lara labels`), a figure that differs (`lara demo`, `lara study`, "
        "`lara report --compare`), drift (`lara audit`), a canary "
        "that did not come back (`lara canary --once`); a rebuild that was stopped before the end; a "
        "worker whose event loop was stuck for `LARA_STALL_SECONDS` (the stacks are in its log)",
    ),
    ("2", "a setting or an argument is wrong"),
    (str(EXIT_SOFTWARE), "an error of the program: a worker ended at once, before its watermark moved"),
    (
        str(EXIT_TEMPORARY),
        "a worker got no answer from the broker while it joined, could not stop within 10 seconds, or got on with "
        "nothing for `LARA_STALL_SECONDS` though Redis and Kafka answered",
    ),
)


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


def contract_files() -> dict[str, str]:
    """The files of docs/contract/, by name."""
    return {
        name: text
        for form in (JSON_SCHEMA, ASYNCAPI)
        for name, text in files(form, None, "lara", RETENTION_MS).items()
    }


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
    "dashboards": lambda: dashboards_markdown(thresholds()),
    "thresholds": lambda: thresholds_markdown(thresholds()),
    "published": set_figures_markdown,
    "seeds": faults.seeds_markdown,
    "exercised": faults.exercised_markdown,
    "mutations": faults.mutations_markdown,
    **worked_example.sections(console),
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
    for name, text in contract_files().items():
        (CONTRACT / name).write_text(text, "utf-8")
