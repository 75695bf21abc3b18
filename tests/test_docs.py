"""The docs say what the code does: what can be compared is compared here.

`python -m tests.docs_pages` writes the parts that come from the code.
"""

import asyncio
import csv
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator

import click
import pytest
from prometheus_client import Metric

from attribution import engine
from attribution.events import EVENT_TYPES, type_of
from attribution.parsing import Rejected, parse
from attribution.semantics import Semantics
from metrics.audit_metrics import AuditCollector
from metrics.buckets import Span
from metrics.canary_metrics import CanaryMetrics
from metrics.catalogue import CATALOGUE
from metrics.exporter import QualityCollector
from metrics.figures import LOWER, UPPER
from metrics.server_metrics import Memory, ServerCollector
from metrics.worker_metrics import WorkerMetrics
from streams import pipeline, resume
from streams.commands.backtest import intake_line, settle_lines
from streams.settings import CONFIG_VARIABLE, SECRETS_VARIABLE, Settings
from streams.state import redis_store, store
from streams.state.drive import drive
from streams.state.memory import MemoryStore
from tests.docs_pages import CONTRACT, PAGES, SECTION, SECTIONS, commands, contract_files, text_of
from tests.docs_printed import ROOT, printed

NAMES = sorted(str(page.relative_to(ROOT)) for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
IN_CODE = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
README = (ROOT / "README.md").read_text("utf-8")
HOW_IT_WORKS = (ROOT / "docs/how-it-works.md").read_text("utf-8")
EXAMPLE = ROOT / "docs/example.jsonl"


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def code_in(page: str) -> Iterator[str]:
    """Everything in code type: spans, and the lines of blocks without their prompt."""
    yield from IN_CODE.findall(BLOCK.sub("", page))
    for _, block in BLOCK.findall(page):
        yield from (line.strip().removeprefix("$ ") for line in block.splitlines())


def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    titles = HEADING.findall(BLOCK.sub("", page))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_what_is_written_from_the_code_is_up_to_date(name):
    """Settings, definitions, topics, command line, layers and printed outputs are those of the code now."""
    assert text(name) == text_of(name), "run: python -m tests.docs_pages"


def test_the_committed_contract_is_that_of_the_code():
    """Every schema and the AsyncAPI document, and no file besides."""
    committed = {path.name: path.read_text("utf-8") for path in CONTRACT.iterdir()}
    assert committed == contract_files(), "run: python -m tests.docs_pages"


def test_a_producer_s_check_prints_what_is_shown(monkeypatch, capsys):
    """The code of docs/topics.md runs as it stands."""
    blocks = BLOCK.findall(text("docs/topics.md"))
    (program,) = (block for language, block in blocks if language == "python")
    (shown,) = (block for language, block in blocks if language == "text")
    monkeypatch.chdir(ROOT)
    exec(program, {})
    assert capsys.readouterr().out == shown


def test_every_section_has_its_place():
    """Nothing that is written from the code is missing from the docs, or there twice."""
    found = [name for page in NAMES for _, name, _ in SECTION.findall(text(page))]
    assert sorted(found) == sorted(SECTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_relative_links_resolve(name):
    """Every link to a file or heading of the project leads there."""
    for target in LINK.findall(text(name)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            file = (ROOT / name).parent / path if path else ROOT / name
            assert file.exists(), target
            assert not anchor or anchor in anchors(file.read_text("utf-8")), target


@pytest.mark.parametrize("name", NAMES)
def test_every_command_named_exists(name):
    """`lara …` and `make …` in code type are commands of this version, with options that they have."""
    known = dict(commands())
    targets = re.findall(r"^(\w+):", text("Makefile"), re.MULTILINE)
    for line in code_in(text(name)):
        words = shlex.split(line, comments=True) if line.startswith(("lara ", "make ")) else []
        if words[:1] == ["make"]:
            assert words[1] in targets, line
        elif words:
            command, rest = leaf(known, words)
            options = {option for param in command.params for option in param.opts}
            assert {word for word in rest if word.startswith("--")} <= {*options, "--help"}, line


def leaf(known: dict[str, click.Command], words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and what is left of them."""
    name = words[0]
    while isinstance(known[name], click.Group) and len(words) > 1:
        name, words = f"{name} {words[1]}", words[1:]
        assert name in known, name
    return known[name], words[1:]


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_named_exists(name):
    """A variable LARA_… in a page is one that is read."""
    known = {f"LARA_{field.upper()}" for field in Settings.model_fields} | {CONFIG_VARIABLE, SECRETS_VARIABLE}
    assert set(re.findall(r"\bLARA_[A-Z_]+\b", text(name))) <= known


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_named_exists(name):
    """A family lara_… in a page is one that worker or exporter serves, or a function of the state."""
    assert set(re.findall(r"\blara_[a-z0-9_]*[a-z0-9]\b", text(name))) <= {
        *metric_names(),
        *state_functions(),
    }


def metric_names() -> Iterator[str]:
    for figure in CATALOGUE:
        yield from (figure.name, figure.name + LOWER, figure.name + UPPER)
    served = [
        *WorkerMetrics().registry.collect(),
        *QualityCollector(MemoryStore(Semantics()), float, []).describe(),
        *AuditCollector().describe(),
        *canary_families(),
        *ServerCollector(lambda: Memory(0, 0)).describe(),
    ]
    suffixes = {"counter": "_total", "info": "_info"}
    yield from (family.name + suffixes.get(family.type, "") for family in served)


def canary_families() -> list[Metric]:
    metrics = CanaryMetrics()
    metrics.returned(0.1, 0.0)
    return list(metrics.registry.collect())


def state_functions() -> set[str]:
    return set(re.findall(r"register_function\('(\w+)'", redis_store.LIBRARY))


@pytest.mark.parametrize("name", NAMES)
def test_every_file_named_exists(name):
    """A path of the project in code type is there."""
    folders = "attribution|metrics|streams|tests|deploy|docs"
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", text(name)):
        assert (ROOT / path).exists(), path


def test_the_state_s_keys_are_those_of_the_functions():
    """The table of Redis keys names exactly the keys that lara.lua describes."""
    described = re.findall(r"^--   (base:\S+) ", redis_store.LIBRARY, re.MULTILINE)
    assert re.findall(r"^\| `(base:[^`]+)`", HOW_IT_WORKS, re.MULTILINE) == described


def test_the_places_of_the_protocol_exist():
    """Whoever looks for a rule of the commit protocol finds it where the page says."""
    owners = {**vars(engine), **vars(pipeline), **vars(resume), **vars(redis_store), **vars(store)}
    named = re.findall(r"`(_Batch|StatePipeline|ResumePoints|RedisStore|Store)\.(\w+)`", HOW_IT_WORKS)
    assert named
    assert [place for place in named if not hasattr(owners[place[0]], place[1])] == []


def test_the_export_goes_the_way_that_is_told():
    """The entities saved for the example's export are those of the page, in its order."""
    *before, export = [parse(line) for line in EXAMPLE.read_bytes().splitlines()]
    saved: list[str] = []

    async def settle() -> None:
        memory = MemoryStore(Semantics())
        term = await memory.open()
        await drive(before, Semantics(), memory, term, "before")
        save, memory.whole = memory.save, False  # layer by layer, as the page tells it

        async def noting(writes, *rest, **how):
            saved.extend(write.key for write in writes)
            return await save(writes, *rest, **how)

        memory.save = noting
        await drive([export], Semantics(), memory, term, "export")

    asyncio.run(settle())
    assert re.findall(r"^\d\. \*\*`([^`]+)`\*\*", HOW_IT_WORKS, re.MULTILINE) == saved


def test_the_example_tells_the_story_of_the_readme():
    """Of 20 candidates the agent takes the fourth; the export comes two days later in another session."""
    retrieval, placement, export = (
        next(event for event in map(json.loads, EXAMPLE.read_text("utf-8").splitlines()) if wanted(event))
        for wanted in (
            lambda event: event.get("retrieval_id") == "r1",
            lambda event: event["type"] == "placement",
            lambda event: event.get("action") == "export",
        )
    )
    assert len(retrieval["returned_asset_ids"]) == 20
    assert retrieval["returned_asset_ids"][3] == placement["derived_from_asset_id"]
    assert export["session_guid"] != retrieval["session_guid"]
    assert (int(export["ts"][8:10]), export["surface"]) == (int(retrieval["ts"][8:10]) + 2, "editor")


def test_the_readme_s_events_are_one_of_each_type_and_all_count():
    """What a newcomer copies is accepted, and its export finds its retrieval."""
    lines = (
        next(block for language, block in BLOCK.findall(README) if language == "json").encode().splitlines()
    )
    events = [parse(line) for line in lines]
    assert [type_of(event) for event in events if not isinstance(event, Rejected)] == list(EVENT_TYPES)
    state, intake = asyncio.run(settle_lines(lines, Semantics()))
    assert intake_line(intake) == "read 5 records: applied 5"
    counters = state.sums([Span(None, 10**9)])[0]
    assert (
        counters["attributed_outcomes|unknown|export"]
        == counters["cross_session_outcomes|unknown|export"]
        == 1
    )


def test_the_readme_fits_on_a_few_screens():
    """A README that is read has at most 180 lines."""
    assert len(README.splitlines()) <= 180


def test_every_dependency_has_its_reason():
    """docs/decisions.md says of each package of pyproject.toml why it is there, and of no other."""
    project = tomllib.loads(text("pyproject.toml"))["project"]
    wanted = [
        *project["dependencies"],
        *(one for some in project["optional-dependencies"].values() for one in some),
    ]
    packages = {re.match(r"[\w-]+", requirement)[0] for requirement in wanted}
    section = text("docs/decisions.md").split("\n## Dependencies\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row) if name != "embedded"} == packages


def test_a_report_of_the_example_is_what_backtest_prints():
    """The helper that prints for the README runs the real command."""
    assert printed("backtest docs/example.jsonl")[0].startswith(
        "Retrieval attribution as of 2026-03-04T18:30:00"
    )


def test_the_filled_sheet_is_the_sheet_of_the_example_with_answers():
    """Only the cells to fill differ from what `lara sample` prints on the page."""
    filled = csv.DictReader(io.StringIO(text("docs/example-sheet.csv")))
    drawn = csv.DictReader(printed("sample docs/example.jsonl --n 2 --depth 4"))
    answers = dict.fromkeys(("grade", "retrieval_intents", "reached"), "")
    assert [row | answers for row in filled] == list(drawn)
