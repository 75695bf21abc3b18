"""The in-memory twin passes the suite of the real store."""

import pytest

from streams.state.memory import MemoryStore, State
from tests.state_suite import StoreSuite, crash_test


class TestMemoryStore(StoreSuite):
    async def expire(self, store, key):
        del store._shard(key).entities[key]

    @pytest.fixture
    def stores(self):
        state = State()
        return lambda semantics: MemoryStore(semantics, state=state)


test_crashes_change_no_figure = pytest.mark.slow(crash_test(MemoryStore, 300))
