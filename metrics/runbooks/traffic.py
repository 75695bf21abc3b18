"""Runbooks of alerts on lineage: whether what is logged still allows to say anything."""

from collections.abc import Mapping
from typing import Final

from metrics.runbooks.runbook import Runbook

TRAFFIC: Final[Mapping[str, Runbook]] = {
    "LaraLineageCoverageBroken": Runbook(
        "A field that figures rest on is sent by far fewer events than usual.",
        "Figures change their meaning without any change of the product: UOR rises, GPR and ACR fall.",
        (
            "The label `field` says which one. `lara doctor` says who should send it and which figures "
            "rest on it.",
            "`lara contract --type retrieval` and `lara contract --type action`: what the field must "
            "look like.",
            "Which client was released in this hour?",
        ),
        (
            "Roll the client back, or mend it. Events that were sent without the field stay so.",
            "Do not touch ranking or search.",
        ),
        (
            "A new client that has nothing to say about the field: take it apart by `surface`.",
            "n is that of all retrievals or actions of the hour; for `source_retrieval_id` at most so many.",
        ),
    ),
    "LaraClaimsBroken": Runbook(
        "More actions than usual claim a retrieval that is unknown (`dangling`) or whose list does not "
        "hold what they claim (`refuted`).",
        "Such actions credit nothing, so GPR and ACR are too low.",
        (
            "`lara explain action ID` of one: which claim, and why does it not hold?",
            "`dangling`: are retrievals refused? `lara deadletters list --reason retrieval_id_reused`, "
            "and LaraInputLost.",
            "`refuted`: are lists logged cut off, or after filtering? `lara doctor` names examples.",
        ),
        (
            "`dangling`: log every retrieval before its results are used; make ids unique over sessions.",
            "`refuted`: log the full list as it was when the retrieval fired; stop the model from making"
            " up sources.",
        ),
        (
            "After a start with an empty state: claims of what was before it dangle for 30 days.",
            "Topics of retrievals that are read later than those of actions heal by themselves.",
        ),
    ),
    "LaraActionsWithoutRetrievals": Runbook(
        "Actions come, and not one retrieval for an hour.",
        "No figure about retrievals moves any more. Actions will dangle.",
        (
            "`lara watermarks show`: is the topic of retrievals read to its end? Does it grow at all?",
            "`lara deadletters list --since TIME`: is every retrieval refused?",
            "The producer that logs retrievals: is it alive?",
        ),
        (
            "Mend the producer. What it kept can be sent later: events count by their own time.",
            "Refused retrievals: mend them, then `lara deadletters replay --dry-run`.",
        ),
        ("An editor that works at night while nobody searches: raise `minimum`.",),
    ),
}
