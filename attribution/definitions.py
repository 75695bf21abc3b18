"""What counts as a genuine positive: named, versioned data, never code.

Rules:
- A definition names the user actions that are evidence (`actions`) or, with `any_but`, those that are not.
- Its digest is the SHA-256 of its meaning, so that two deployments can tell whether they count the same.
- Several definitions are evaluated side by side; `standard` is the one other rules of the contract read.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

# Verbs that are no user action of any definition: a display is not an act of the user.
NEVER_POSITIVE: Final = ("show",)


class Definition(Struct, frozen=True, forbid_unknown_fields=True):
    """One reading of "the user found it useful"."""

    name: str
    version: int
    actions: tuple[str, ...] = ()
    any_but: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.actions) == bool(self.any_but):
            raise ValueError(f"definition {self.name}: give either `actions` or `any_but`")
        if not self.name.isidentifier():
            raise ValueError(f"definition name {self.name!r} must be a plain word: it becomes a label")

    @property
    def digest(self) -> str:
        """12 hexadecimal digits of what this definition says."""
        meaning = {"name": self.name, "version": self.version, "actions": sorted(self.actions)}
        meaning["any_but"] = sorted(self.any_but)
        return hashlib.sha256(msgspec.json.encode(meaning, order="sorted")).hexdigest()[:12]

    def counts(self, verb: str) -> bool:
        """Is a user action of this verb, attributed to a retrieval, a genuine positive for it?"""
        if verb in NEVER_POSITIVE:
            return False
        return verb in self.actions if self.actions else verb not in self.any_but


STRICT: Final = Definition("strict", 1, actions=("export", "share", "download"))
STANDARD: Final = Definition("standard", 1, actions=(*STRICT.actions, "select", "place", "edit", "follow_up"))
BROAD: Final = Definition("broad", 1, any_but=("reject", "correct", "not_helpful"))
DEFAULT_DEFINITIONS: Final = (STRICT, STANDARD, BROAD)


def read_definitions(document: object) -> tuple[Definition, ...]:
    """Definitions from a decoded file: `{"definition": [{"name": …, "version": …, "actions": […]}, …]}`.

    The three of the contract are always there; a file adds to them or, by name and under a new version,
    replaces one. Raises `msgspec.ValidationError` or `ValueError` with the place of the mistake.
    """
    file = msgspec.convert(document, _DefinitionFile)
    by_name = {definition.name: definition for definition in DEFAULT_DEFINITIONS}
    named: set[str] = set()
    for definition in file.definition:
        known = by_name.get(definition.name, definition)
        if definition.name in named:
            raise ValueError(f"definition {definition.name} stands twice in the file")
        if known.version == definition.version and known.digest != definition.digest:
            raise ValueError(
                f"definition {definition.name} says something else than version {known.version} does: "
                "give it a new version"
            )
        named.add(definition.name)
        by_name[definition.name] = definition
    return tuple(by_name.values())


class _DefinitionFile(Struct, frozen=True, forbid_unknown_fields=True):
    definition: Sequence[Definition]
