"""`python -m tests.faults 17`: run the plan of a seed, or a named one, and print what it did.

`--without NAME` takes a protection out (`mutations.py`), `--redis` runs it on a real Redis, `--shrink` makes a
failing plan as small as it can be.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.faults.edits import edited
from tests.faults.mutations import MUTATIONS
from tests.faults.plan import Plan
from tests.faults.plans import plan_called
from tests.faults.run import Outcome, run
from tests.faults.servers import RealRedis
from tests.faults.shrink import shrunk


def main() -> None:
    """As asked on the command line; ends with 1 if the run broke a rule."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("plan", help="a seed, or the name of a plan")
    parser.add_argument("--without", choices=sorted(MUTATIONS), metavar="NAME", default="")
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--shrink", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(_redis()) if asked.redis else None
        stack.enter_context(edited(*MUTATIONS[asked.without].edits) if asked.without else ExitStack())

        def ran(plan: Plan) -> Outcome:
            if server is not None:
                server.begin()
            return run(plan, server)

        plan = plan_called(asked.plan)
        if asked.shrink:
            plan = shrunk(plan, lambda smaller: bool(ran(smaller).broken))
        outcome = ran(plan)
    print(plan, *outcome.trace, outcome.broken or "all is as one batch leaves it", sep="\n")
    raise SystemExit(bool(outcome.broken))


@contextmanager
def _redis() -> Iterator[RealRedis]:
    with tempfile.TemporaryDirectory() as directory:
        server = RealRedis(Path(directory))
        try:
            yield server
        finally:
            server.end()


if __name__ == "__main__":
    main()
