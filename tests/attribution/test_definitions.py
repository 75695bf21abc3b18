"""Definitions of a genuine positive, and a fourth one that is nothing but a file."""

import msgspec
import pytest

from attribution.definitions import (
    BROAD,
    DEFAULT_DEFINITIONS,
    STANDARD,
    STRICT,
    Definition,
    read_definitions,
)
from streams.settings import read_settings
from streams.state.meaning import meaning_of
from tests.building import retrieval, settle, user

USER_VERBS = (
    *("click", "select", "place", "follow_up", "edit", "export", "share", "download"),
    *("reject", "correct", "helpful", "not_helpful", "show"),
)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (STRICT, {"export", "share", "download"}),
        (STANDARD, {"export", "share", "download", "select", "place", "edit", "follow_up"}),
        (BROAD, {*USER_VERBS} - {"reject", "correct", "not_helpful", "show"}),
    ],
    ids=lambda value: value.name if isinstance(value, Definition) else "",
)
def test_the_three_definitions_of_the_contract(definition, expected):
    """Strict, standard and broad count these user actions and no others."""
    assert {verb for verb in USER_VERBS if definition.counts(verb)} == expected


def test_broad_counts_an_action_that_nobody_has_named_yet():
    """Any user action but three is one, a verb of tomorrow too."""
    assert BROAD.counts("pin_to_board")
    assert not STANDARD.counts("pin_to_board")


def test_a_display_is_no_act_of_the_user_in_any_definition():
    """Not even a definition that names `show` counts it."""
    assert not Definition("odd", 1, actions=("show",)).counts("show")


def test_the_digest_tells_two_meanings_apart_and_only_these():
    """Name, version and actions are in the digest; the order in which actions are listed is not."""
    one = Definition("own", 1, actions=("export", "share"))
    assert one.digest == Definition("own", 1, actions=("share", "export")).digest
    others = [
        Definition("own", 2, actions=("export", "share")),
        Definition("mine", 1, actions=("export", "share")),
        Definition("own", 1, actions=("export",)),
        Definition("own", 1, any_but=("export", "share")),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5
    assert len(one.digest) == 12


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "own"}, "either"),
        ({"name": "own", "actions": ("export",), "any_but": ("reject",)}, "either"),
        ({"name": "my own", "actions": ("export",)}, "plain word"),
        ({"name": "a|b", "actions": ("export",)}, "plain word"),
        ({"name": "", "actions": ("export",)}, "plain word"),
    ],
)
def test_a_definition_that_says_nothing_or_cannot_be_a_label_is_refused(fields, complaint):
    """It must list actions one way, and its name must be fit for a label."""
    with pytest.raises(ValueError, match=complaint):
        Definition(version=1, **fields)


def test_a_file_adds_definitions_or_replaces_one_by_its_name():
    """The three of the contract are always there."""
    own = {"name": "own", "version": 1, "actions": ["share"]}
    strict = {"name": "strict", "version": 2, "actions": ["export"]}
    found = read_definitions({"definition": [own, strict]})
    assert [(one.name, one.version) for one in found] == [
        ("strict", 2),
        ("standard", 1),
        ("broad", 1),
        ("own", 1),
    ]
    assert found[0].actions == ("export",)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"definition": [{"name": "own"}]},
        {"definition": [{"name": "own", "version": "1", "actions": ["share"]}]},
        {"definition": [{"name": "own", "version": 1, "actions": ["share"], "color": "red"}]},
        {"definitions": []},
        {"definition": [{"name": "own", "version": 1}]},
    ],
    ids=str,
)
def test_a_file_with_a_mistake_is_refused(document):
    """Missing, misspelt or mistyped entries are mistakes, not defaults."""
    with pytest.raises((msgspec.ValidationError, ValueError)):
        read_definitions(document)


FILE = """
[[definition]]
name = "kept"
version = 3
actions = ["helpful"]
"""
RECORDS = (
    retrieval("r1"),
    user("helpful", consumed_asset_id="a1", source_retrieval_id="r1"),
    retrieval("r2"),
    user("export", consumed_asset_id="a1", source_retrieval_id="r2"),
)


def test_a_fourth_definition_by_file_alone_adds_its_figures_and_changes_no_other(tmp_path):
    """U, unobserved and GPR are counted by it too; every row that was there before stays as it was."""
    path = tmp_path / "definitions.toml"
    path.write_text(FILE)
    semantics = read_settings(definitions_file=path).semantics
    plain, with_fourth = settle(*RECORDS), settle(*RECORDS, semantics=semantics)
    assert [one.name for one in semantics.definitions] == ["strict", "standard", "broad", "kept"]
    added = with_fourth.figures().items() - plain.figures().items()
    assert plain.figures().items() <= with_fourth.figures().items()
    assert added and all(dict(labels)["definition"] == "kept" for (_, labels), _ in added)
    chosen = {"definition": "kept", "cohort": "settled"}
    assert with_fourth.figure("lara_retrievals_positive", **chosen) == 1
    assert with_fourth.figure("lara_gpr_ratio", **chosen) == 0.5
    assert with_fourth.figure("lara_retrievals_unobserved", **chosen) == 1
    assert with_fourth.outcomes["r1"]["positive"] == {
        "strict": False, "standard": False, "broad": True, "kept": True,
    }  # fmt: skip


def test_a_fourth_definition_is_another_meaning(tmp_path):
    """State counted without it cannot be continued with it."""
    path = tmp_path / "definitions.toml"
    path.write_text(FILE)
    found, default = (
        settings.semantics for settings in (read_settings(definitions_file=path), read_settings())
    )
    assert meaning_of(found, 8) != meaning_of(default, 8)
    assert read_settings().semantics.definitions == DEFAULT_DEFINITIONS


def test_a_definition_that_says_something_else_under_the_same_version_is_refused():
    """Whoever reads the figures could not tell the two apart: changing one is a new version."""
    changed = {"name": "standard", "version": 1, "actions": ["export"]}
    with pytest.raises(ValueError, match="standard says something else than version 1 does: give it a new"):
        read_definitions({"definition": [changed]})
    found = read_definitions({"definition": [changed | {"version": 2}]})
    assert [one.version for one in found if one.name == "standard"] == [2]


def test_the_same_definition_may_be_written_out_again_but_not_twice():
    """A file that repeats a definition of the contract says nothing new; one that names it twice is a mistake."""
    same = {"name": "strict", "version": 1, "actions": ["download", "share", "export"]}
    assert {one.digest for one in read_definitions({"definition": [same]})} == {
        one.digest for one in DEFAULT_DEFINITIONS
    }
    with pytest.raises(ValueError, match="strict stands twice"):
        read_definitions({"definition": [same, same | {"version": 2}]})
