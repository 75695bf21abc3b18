"""Results of queries that come often. The key holds all that a result depends on, the caller's groups too."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """The values used last, at most `size` of them. Safe for threads."""

    def __init__(self, size: int = 1000) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key: Hashable) -> Value | None:
        """What is kept under the key."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                self.misses += 1
            else:
                self.hits += 1
                self._kept.move_to_end(key)
            return found

    def put(self, key: Hashable, value: Value) -> None:
        """Keep it; the value unused for longest goes."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def values(self) -> list[Value]:
        """All that is kept, the one used last at the end."""
        with self._lock:
            return list(self._kept.values())
