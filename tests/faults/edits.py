"""Take a piece out of a program for a while, in this process only.

An edit names a function and texts in it; each must stand there exactly once, so that an edit cannot outlive
the code it was written for. The function keeps its identity and gets other code: whoever imported it has it.
"""

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType, FunctionType
from typing import NamedTuple, cast
from unittest.mock import patch

from streams.state import redis_store


class Edit(NamedTuple):
    """Texts of a function, or of the function library of Redis (None), and what stands there instead."""

    function: object
    changes: Mapping[str, str]


@contextmanager
def edited(*edits: Edit) -> Iterator[None]:
    """These edits are in force meanwhile."""
    with ExitStack() as stack:
        for edit in edits:
            if edit.function is None:
                library = _changed(redis_store.LIBRARY, edit.changes)
                stack.enter_context(patch.object(redis_store, "LIBRARY", library))
            else:
                function = cast(FunctionType, edit.function)
                stack.callback(setattr, function, "__code__", function.__code__)
                function.__code__ = _code(function, edit.changes)
        yield


def _code(function: FunctionType, changes: Mapping[str, str]) -> CodeType:
    source = _changed(textwrap.dedent(inspect.getsource(function)), changes)
    names = dict(function.__globals__)
    exec(compile(source, function.__code__.co_filename, "exec"), names)
    return cast(CodeType, names[function.__name__].__code__)


def _changed(text: str, changes: Mapping[str, str]) -> str:
    for was, becomes in changes.items():
        assert text.count(was) == 1, f"stands {text.count(was)} times: {was}"
        text = text.replace(was, becomes)
    return text
