"""`lara report`: the figures of the live state."""

import time

from streams.commands.backtest import current_figures, print_figures
from streams.connections import reader_of
from streams.settings import Settings


def report(settings: Settings, as_of: int | None, as_json: bool) -> None:
    """Print the figures that Redis holds, as of now by default."""
    reader = reader_of(settings)
    moment = int(time.time() * 1000) if as_of is None else as_of
    found = current_figures(reader, settings, moment)
    reader.close()
    print_figures(moment, found, settings, as_json)
