"""`lara doctor`, the findings of the events themselves: what is wrong or odd, how often, and what to do.

Rules:
- A finding is a problem (figures are wrong, or will be), a warning (they say less than they seem to) or a
  note (worth knowing).
- Most grow graver with their share: the last of a check's `grades` whose share is reached says how grave.
- A check that counts nothing is no finding.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from streams.commands.backtest import Intake
from streams.commands.doctor_notes import Name, Notes

PROBLEM: Final = "problem"
WARNING: Final = "warning"
NOTE: Final = "note"
SEVERITIES: Final = (PROBLEM, WARNING, NOTE)
Grades = tuple[tuple[float, str], ...]  # (from which share on, how grave)


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was found; `of` is what `count` is a share of, and both are None for a setting."""

    name: str
    severity: str
    what: str
    do: str
    count: int | None = None
    of: int | None = None
    examples: tuple[str, ...] = ()
    values: Mapping[str, int] = {}


class Check(NamedTuple):
    """What is counted, among what, and what it means. `mixed`: only where some are so and some are not."""

    name: str
    counted: Name
    among: Name
    grades: Grades
    what: str
    do: str
    mixed: bool = False


ALWAYS_A_PROBLEM: Final = ((0.0, PROBLEM),)
ALWAYS_A_WARNING: Final = ((0.0, WARNING),)
ALWAYS_A_NOTE: Final = ((0.0, NOTE),)
LOST_LINEAGE: Final = ((0.0, WARNING), (0.05, PROBLEM))
LOST_RECORDS: Final = ((0.0, WARNING), (0.01, PROBLEM))

# fmt: off
CHECKS: Final = (
    Check("reused_in_another_session", "reused in another session", "records", ALWAYS_A_PROBLEM,
          "ids come back in another session, often numbered per session: only the first counts",
          "Put the session, or anything that is unique, in front of retrieval_id and request_id."),
    Check("reused_retrieval_ids", "reused retrieval ids", "records of retrievals", LOST_RECORDS,
          "retrievals carry a retrieval_id that another retrieval has: they count nowhere",
          "Give every retrieval an id of its own, pages and repeats too."),
    Check("reused_request_ids", "reused request ids", "records of prompts", LOST_RECORDS,
          "prompts carry a request_id that another prompt has: they count nowhere",
          "Send one prompt for each request_id, when the turn is sent off, not with each key pressed."),
    Check("counted_retrieval_ids", "counted ids", "retrievals", ((0.5, WARNING),),
          "retrieval ids look like a counter: ids are global, and a second session that counts would collide",
          "Make sure that they are unique over all sessions; else put the session in front."),
    Check("counted_request_ids", "counted request ids", "prompts", ((0.5, WARNING),),
          "request ids look like a counter: ids are global, and a second session that counts would collide",
          "Make sure that they are unique over all sessions; else put the session in front."),
    Check("dangling_never_logged", "never logged", "resolved", LOST_LINEAGE,
          "actions name a retrieval that was never logged: they credit nothing (dangling)",
          "Send every retrieval, under the id that placements and actions carry on."),
    Check("dangling_out_of_reach", "too far", "resolved", LOST_LINEAGE,
          "actions name a retrieval of more than 30 days before, or of more than 5 minutes after (dangling)",
          "Compare the clocks of the producers. Nothing, if people do come back after so long."),
    Check("dangling_placement", "unknown placements", "resolved", LOST_LINEAGE,
          "actions name a placement that their document does not hold: they credit nothing (dangling)",
          "Send every placement, and its document_id with all actions that name it: it is looked up there."),
    Check("unknown_retrievals", "unknown retrievals", "retrievals", ALWAYS_A_WARNING,
          "retrieval ids were never logged, and are named by:",
          "Look for the retrievals that are not sent, or are sent under another id."),
    Check("refuted", "refuted", "resolved", LOST_LINEAGE,
          "actions claim a retrieval whose list does not hold their asset: they credit nothing (refuted)",
          "Log the whole list, with the same asset ids as actions use; name what an asset was made from "
          "(derived_from_asset_id)."),
    Check("none_with_asset", "none with asset", "resolved", ((0.0, NOTE), (0.05, WARNING), (0.5, PROBLEM)),
          "actions have an asset, and nothing leads from it to a retrieval (none)",
          "Log source_retrieval_id with the action, or with the placement of its asset; an asset that no "
          "retrieval found is rightly none."),
    Check("unknown_verbs", "unknown verbs", "records", ALWAYS_A_WARNING,
          "actions have a verb that the contract does not know: of a user they count for `broad` only",
          "Translate the verbs to those of the contract (export, share, select, …)."),
    Check("without_show", "unshown", "requests", ((0.0, NOTE), (0.2, WARNING)),
          "requests that retrieve have no agent show: use after the answer counts as before it (A, not D)",
          "Log an agent show with the request_id when the answer reaches the user."),
    Check("shows_without_request", "shows without request", "shows", ALWAYS_A_WARNING,
          "shows of the agent carry no request_id: they part nothing",
          "Log the request_id with the show."),
    Check("mixed_conversations", "no conversation", "turns", ALWAYS_A_NOTE,
          "records carry no conversation_id, while others do: within one session that parts a conversation",
          "Send conversation_id on all events of a session or on none.", mixed=True),
    Check("other_surfaces", "other surfaces", "records", ALWAYS_A_WARNING,
          "records come from a surface that is not configured: shown as `other`",
          "Add the surfaces to the setting `surfaces` (state must be counted anew), or mend the producer."),
    Check("other_roles", "other roles", "retrievals", ALWAYS_A_WARNING,
          "retrievals have a role that does not exist: shown as `unspecified`",
          "Map them to the six roles of the contract."),
    Check("other_routes", "other routes", "prompts", ALWAYS_A_NOTE,
          "prompts took a route that is not configured: shown as `other`",
          "Add the routes to the setting `routes` (state must be counted anew), or leave them together."),
    Check("excluded", "excluded", "standing", ((0.0, NOTE), (0.5, WARNING)),
          "records are synthetic: in no figure, and in no other line of this",
          "Nothing, if so much is right; else look at `synthetic` and the settings `synthetic_…`."),
    Check("holes", "holes", "lists", ((0.0, NOTE), (0.05, WARNING)),
          "lists hold a null element: they refute no claim, and a substitution is not seen",
          "Log the id of every element."),
    Check("empty_pages", "empty pages", "retrievals", ALWAYS_A_NOTE,
          "pages are empty: no null result",
          "Nothing, if people do page to the end."),
    Check("without_query", "unasked", "retrievals", ALWAYS_A_NOTE,
          "retrievals have no query: no labels by query, and no search for similar words",
          "Log the query as it was sent to the retriever."),
    Check("without_user", "no user", "turns", ALWAYS_A_NOTE,
          "prompts, retrievals and actions have no user_id",
          "Log user_id, a pseudonym will do, where there is one."),
)
# fmt: on


def findings_of(notes: Notes, intake: Intake | None) -> list[Finding]:
    """All findings of the events; `intake` is what became of lines, where files were read."""
    checked = (_checked(check, notes) for check in CHECKS)
    found = [finding for finding in (*_intake(intake), *checked) if finding is not None]
    return by_severity(found)


def by_severity(found: list[Finding]) -> list[Finding]:
    """The gravest first, else in the order in which they were found."""
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _checked(check: Check, notes: Notes) -> Finding | None:
    count, of = notes.counts[check.counted], notes.counts[check.among]
    if check.mixed and count == of:
        return None
    found = Finding(
        name=check.name,
        severity=NOTE,
        what=check.what,
        do=check.do,
        count=count,
        of=of,
        examples=notes.examples(check.counted),
        values=notes.values.get(check.counted, {}),
    )
    return graded(found, check.grades)


def _intake(intake: Intake | None) -> Iterator[Finding | None]:
    """What became of lines that are no standing record."""
    if intake is None:
        return
    lines = sum(intake.dispositions.values())
    invalid = Finding(
        name="invalid",
        severity=NOTE,
        what="lines are no events: in production they would be dead letters",
        do="Mend the producer; docs/topics.md says what an event looks like.",
        count=intake.dispositions["invalid"],
        of=lines,
        values=intake.reasons,
    )
    duplicates = Finding(
        name="duplicates",
        severity=NOTE,
        what="lines are copies of an event that was already there: they change nothing",
        do="Nothing; if there are many, look at what the producer sends again.",
        count=intake.dispositions["duplicate"],
        of=lines,
    )
    yield graded(invalid, LOST_RECORDS)
    yield graded(duplicates, ((0.0, NOTE), (0.2, WARNING)))


def graded(finding: Finding, grades: Grades) -> Finding | None:
    """The finding as grave as its share makes it; None if there is none, or too small a share."""
    if not finding.count:
        return None
    share = finding.count / finding.of if finding.of else 1.0
    reached = [severity for least, severity in grades if share >= least]
    return msgspec.structs.replace(finding, severity=reached[-1]) if reached else None
