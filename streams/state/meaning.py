"""What state was counted under: kept beside it in readable form, and compared before anything is counted on.

Rules:
- State is continued only under the same meaning: its form, the number of shards, and the semantics.
- A refusal names what differs. A definition that says something else under the same version is called so:
  whoever reads its figures could not tell the two apart, so changing one is a new version.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from attribution.semantics import Semantics

FORM: Final = 1  # of what is stored; raised when an older program could not read it

_encoder: Final = msgspec.json.Encoder(order="sorted")


class OtherMeaning(Exception):
    """The state was counted under another meaning; counting on would mix two. The message says which."""


def meaning_of(semantics: Semantics, shards: int) -> str:
    """The meaning of state, as text that is equal exactly when the meaning is."""
    found = {"form": FORM, "shards": shards, "semantics": msgspec.to_builtins(semantics)}
    return _encoder.encode(found).decode()


def read_meaning(text: str) -> tuple[Semantics, int]:
    """The semantics and the shards of a meaning. Raises `OtherMeaning` if another program wrote it."""
    found = msgspec.json.decode(text)
    if found["form"] != FORM:
        raise OtherMeaning(_sentence(found, {"form": FORM}))
    return msgspec.convert(found["semantics"], Semantics), found["shards"]


def check_meaning(theirs: str, ours: str) -> None:
    """Raise `OtherMeaning` unless state of the one meaning may be continued under the other."""
    if theirs != ours:
        raise OtherMeaning(_sentence(msgspec.json.decode(theirs), msgspec.json.decode(ours)))


def _sentence(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    if theirs["form"] != ours["form"]:
        age = "newer" if theirs["form"] > ours["form"] else "older"
        return (
            f"the state has form {theirs['form']}, of {age} lara than this one (form {ours['form']}): "
            "run the version that wrote it, or count anew (docs/operating.md)"
        )
    return (
        f"the state was counted under other settings: {'; '.join(_differences(theirs, ours))}. "
        "Restore them, or count anew (docs/operating.md)"
    )


def _differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    if theirs["shards"] != ours["shards"]:
        yield f"`shards` was {theirs['shards']}, is {ours['shards']}"
    was, now = theirs["semantics"], ours["semantics"]
    for name in sorted(was.keys() | now.keys()):
        if name == "definitions":
            yield from _definitions(was[name], now[name])
        elif was.get(name) != now.get(name):
            yield f"`{name}` was {_text(was.get(name))}, is {_text(now.get(name))}"


def _definitions(was: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[str]:
    before, after = ({one["name"]: one for one in some} for some in (was, now))
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"definition `{name}` is {'new' if old is None else 'gone'}"
        elif old != new and old["version"] == new["version"]:
            yield f"definition `{name}` says something else under the same version {new['version']}"
        elif old != new:
            yield f"definition `{name}` was version {old['version']}, is {new['version']}"


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
