"""The export as Parquet: the same columns as its JSON lines, through pyarrow, which is an extra."""

from collections.abc import Sequence
from typing import IO, Any, Final

import msgspec

from streams.commands.backtest import NotKnown
from streams.commands.exported import Exported

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    raise NotKnown("Parquet needs pyarrow, which is not installed: pip install 'lara[parquet]'") from None

TEXT: Final = pyarrow.string()
TEXTS: Final = pyarrow.list_(TEXT)
FLAG: Final = pyarrow.bool_()
WHOLE: Final = pyarrow.int64()


def _pairs(name: str) -> Any:
    return pyarrow.list_(pyarrow.struct([("asset_id", TEXT), (name, WHOLE)]))


COLUMNS: Final = {
    "retrieval_id": TEXT,
    "ts": pyarrow.timestamp("ms", tz="UTC"),
    "request_id": TEXT,
    "role": TEXT,
    "surface": TEXT,
    "query": TEXT,
    "page_of": TEXT,
    "returned_asset_ids": TEXTS,
    "used": _pairs("rank"),
    "labels": _pairs("grade"),
    "positive": TEXTS,
    "agent_consumed": FLAG,
    "delegated": FLAG,
    "failed": FLAG,
    "failure_signals": TEXTS,
    "corrected": FLAG,
    "null_result": FLAG,
    "ndcg_at_10": pyarrow.float64(),
    "diagnosis": TEXT,
    "mature": FLAG,
    "completed": FLAG,
    "goal_reached": FLAG,
    "retrieval_intents": WHOLE,
}
SCHEMA: Final = pyarrow.schema(list(COLUMNS.items()))


class Parquet:
    """A row group a page."""

    def __init__(self, out: IO[bytes]) -> None:
        self._writer = pyarrow.parquet.ParquetWriter(out, SCHEMA)

    def write(self, page: Sequence[Exported]) -> int:
        """As `Writer.write`."""
        if page:
            rows = [msgspec.to_builtins(one) for one in page]
            self._writer.write_table(pyarrow.Table.from_pylist(rows, schema=SCHEMA))
        return len(page)

    def close(self) -> None:
        """As `Writer.close`."""
        self._writer.close()
