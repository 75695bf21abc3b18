"""Who may read what: asked before anything is looked up, and once more before an answer leaves.

Rules:
- A document without access groups is everybody's; any other is for members of one of its groups.
- What a caller may not read is in no list, so it is in no rank, log, cache or event either.
- The second time the answer comes from `Access`, which knows of changes since the index was made. A document
  that it does not know is gone, and nobody may read it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from assistant.documents import Document

Groups: TypeAlias = frozenset[str]
Access: TypeAlias = Callable[[str], Groups | None]  # document_id -> its access groups now; None: it is gone
Filters: TypeAlias = Mapping[str, str]  # metadata field -> the value it must have
FILTERABLE = ("product_line", "kind")

Cited = TypeVar("Cited")


def may_read(access_groups: Groups | None, groups: Groups) -> bool:
    """May a member of `groups` read what these access groups guard?"""
    return access_groups is not None and (not access_groups or bool(access_groups & groups))


def candidates(documents: Sequence[Document], groups: Groups, filters: Filters) -> list[bool]:
    """For each document: may it be looked at? Raises ValueError for a field that is no filter."""
    if unknown := filters.keys() - set(FILTERABLE):
        raise ValueError(f"no filter: {', '.join(sorted(unknown))}; there are {', '.join(FILTERABLE)}")
    return [
        may_read(one.access_groups, groups)
        and all(getattr(one, name) == value for name, value in filters.items())
        for one in documents
    ]


def still_permitted(
    cited: Iterable[Cited], document_id: Callable[[Cited], str], groups: Groups, access: Access
) -> tuple[Cited, ...]:
    """What may still be read of what is cited."""
    return tuple(one for one in cited if may_read(access(document_id(one)), groups))
