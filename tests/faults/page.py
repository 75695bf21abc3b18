"""The section "Seeds and mutations" of docs/failure.md: what is run how often, and what each test is good for."""

from itertools import groupby

from tests.docs_markdown import table
from tests.faults.happened import EXERCISED
from tests.faults.mutations import MUTATIONS, REDIS
from tests.faults.plans import PLANS, is_seed
from tests.faults.test_faults import ALL, DAILY
from tests.live import test_faults as live


def seeds_markdown() -> str:
    """How many plans are run where, and by which command."""
    twin, redis = "tests/faults/test_faults.py", "tests/live/test_faults.py"
    rows = [
        (f"{DAILY:,}", "the in-memory twin", "`make test`", f'`pytest -n auto {twin} -m "not prove"`'),
        (f"{ALL:,}", "the in-memory twin", "`make prove`", f"`pytest -n auto {twin}`"),
        (f"{live.DAILY:,}", "a real Redis", "`make test`", f'`pytest {redis} -m "not prove"`'),
        (f"{live.ALL:,}", "a real Redis", "`make prove`", f"`pytest {redis}`"),
        (f"{len(PLANS)} named plans", "both", "`make test`", f"`pytest {twin} {redis} -k named_plan`"),
    ]
    return table(("seeds", "on", "part of", "alone"), rows)


def exercised_markdown() -> str:
    """What happens in the seeds."""
    rows = [
        (fault, "<br>".join(f"{row.times} × {row.what}" for row in some))
        for fault, some in groupby(EXERCISED, lambda row: row.fault)
    ]
    return table(("fault", "so often at least in 250 seeds"), rows)


def mutations_markdown() -> str:
    """What is taken out, and what fails then."""
    rows = [
        (one.protection, one.removed, f"`{one.test}`", f"`{_command(name)}`")
        for name, one in MUTATIONS.items()
    ]
    return table(("protection", "taken out", "the test that then fails", "see it"), rows)


def _command(name: str) -> str:
    one = MUTATIONS[name]
    plan = one.plan if is_seed(one.plan) else f'"{one.plan}"'
    return f"python -m tests.faults {plan} --without {name}{' --redis' * (one.where == REDIS)}"
