"""How often what happens in simulated traffic: one frozen table of rates, and three settings of it.

A rate is a probability between 0 and 1 unless its comment says otherwise. The weights of the follow-ups carry
the names of the scenes they start (`claims.py`, `documents.py`, ...) and count against each other.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rates:
    """Every rate of the simulator. The defaults are `DEMO`: a lively assistant that logs rather well."""

    # Who comes.
    chat_entry: float = 0.6  # prompts, and so sessions, at the chat entry; the others in gallery or editor
    turns: float = 3.0  # mean number of prompts of a session
    retrieving_at_chat: float = 0.3  # prompts of the chat entry that retrieve
    retrieving_elsewhere: float = 0.3  # prompts of the other surfaces that retrieve
    foreign_surface: float = 0.03  # prompts on a surface outside the configured list (folded to `other`)
    no_surface: float = 0.03  # prompts that do not log a surface (`unknown`)
    signed_in: float = 0.8  # sessions with a user_id
    conversation: float = 0.3  # sessions that send a conversation_id, on all their events
    synthetic: float = 0.02  # sessions of a health check: `synthetic: true` on all their events

    # What a retrieval logs.
    second_retrieval: float = 0.2  # requests that retrieve once more (again of those: a third time, ...)
    shared_asset: float = 0.4  # requests with several retrievals whose lists share an asset
    null_result: float = 0.02  # retrievals that return nothing: an empty list
    no_list: float = 0.03  # retrievals without the returned list
    hole: float = 0.01  # lists with a null element, which keeps its position
    repeated: float = 0.03  # lists that hold an asset twice
    no_role: float = 0.06  # retrievals without a role
    foreign_role: float = 0.01  # retrievals with a role that is none of the six (`unspecified` too)
    no_request: float = 0.03  # requests whose id the retrievals do not carry

    no_query: float = 0.03  # retrievals without a query
    unspaced: float = 0.1  # queries in Chinese, which is written without spaces

    # What a prompt logs.
    routed: float = 0.8  # prompts with a route, some outside the configured list (`other`)
    flagged: float = 0.3  # prompts flagged as reformulation or as none
    search_reformulation_at_chat: float = (
        0.3  # flagged prompts of the chat entry that retrieve, and ask again
    )
    downstream_correction_at_chat: float = (
        0.45  # flagged prompts of the chat entry that correct what was made
    )
    reformulation_elsewhere: float = 0.33  # flagged prompts of the other surfaces that ask again

    # What is measured.
    latency: float = 0.7  # retrievals and actions with a latency, some of it in fractions
    tokens: float = 0.3  # retrievals and actions with a number of tokens

    # The answer.
    agent_acts: float = 0.5  # retrieving requests in which the agent consumes something before the answer
    agent_places: float = 0.1  # of these, the agent places it, and makes something of the placement
    generative: float = 0.82  # agent consumptions that are generative edits (`generate`, `edit`)
    shown: float = 0.95  # answers whose `show` is logged
    shown_at_once: float = 0.02  # shows stamped with the very time of the event before
    unbound_show: float = 0.03  # shows without request_id: they bound nothing
    bare_action: float = 0.1  # prompts followed by a user action that names nothing
    judged: float = 0.1  # retrieving requests whose relevance or goal somebody judges
    intended: float = 0.05  # prompts of which somebody says how many retrievals they wanted

    # One reaction to each retrieval that found something, whatever becomes of the others of its request.
    reacted: float = 0.05  # retrieving requests that are followed so, and by nothing else
    taken_away: float = 0.1  # exported, shared or downloaded (positive by every definition)
    worked_with: float = 0.2  # selected, edited or followed up (by `standard` and `broad`)
    noticed: float = 0.2  # clicked, called helpful or made a favourite (by `broad` only)
    turned_down: float = 0.05  # rejected (an observable failure)

    # Follow-ups: weights of what the user does with what was retrieved.
    again: float = 0.35  # (a probability) one more follow-up on the same request
    another_session: float = 0.25  # (a probability) a follow-up goes on hours or a day or two later
    silence: float = 8.0  # nothing: the retrieval stays unobserved
    claimed: float = 6.0  # an action that names its retrieval
    claimed_bare: float = 0.5  # the same without an asset
    requested: float = 4.0  # an action that names asset and request, the retrieval is not named
    placed: float = 8.0  # placed into a document, then acted on by placement or by asset
    composed: float = 4.0  # a document of several retrievals, exported as a whole
    copied: float = 1.0  # copies within a document and into another
    derived: float = 1.5  # assets made from a retrieved one
    removed: float = 0.7  # placements taken out again
    placed_twice: float = 0.7  # one asset placed from two retrievals
    retrieved_again: float = 1.5  # retrieved in a later turn too, credited to the one it was placed from
    overridden: float = 0.4  # the action's own claim against that of the placement
    restored: float = 0.3  # a placement removed and placed again under the same id
    delegated: float = 1.5  # the agent acts after the answer, or in another request
    second_look: float = 0.5  # a request that retrieves again after its first show
    substituted: float = 0.6  # the agent works with something no list of its request holds
    reformulated: float = 1.2  # a later retrieval names the one it reformulates
    needed: float = 0.6  # a later retrieval has the same need
    similar: float = 0.8  # a later query looks like an earlier one
    paged: float = 0.6  # further pages of a list
    refuted: float = 0.8  # claims that the list refutes
    dangling: float = 0.8  # ids that never arrive
    baseless: float = 0.8  # placements without source, of another asset, in empty documents
    long_chain: float = 0.1  # copies of copies, some beyond the 16 steps that are followed
    skewed: float = 0.5  # a fast clock: the retrieval is stamped after the action that claims it
    excluded: float = 0.2  # an action of a real session that names a synthetic retrieval

    # What the wire and the producers do to events.
    no_event_id: float = 0.08  # events without event_id: their identity is the digest
    numeric_id: float = 0.1  # ids that are decimal numbers; half of their mentions are JSON integers
    text_time: float = 0.4  # timestamps in RFC 3339 text, some with microseconds, some in other zones
    blank_field: float = 0.05  # events with an absent field sent as "" or null
    unknown_field: float = 0.05  # events with a field the contract does not know
    no_session: float = 0.15  # placements without session_guid
    resent: float = 0.01  # events sent again, identical to the byte
    revised: float = 0.005  # events sent again under the same event_id, with other content
    conflicting: float = 0.01  # prompts and retrievals whose id a later event uses again
    invalid: float = 0.004  # records, per event, that are no event
    tombstone: float = 0.002  # null values, per event


DEMO = Rates()

# What the published study says, and what is chosen where it says no number (docs/published.md has both).
RETRIEVING, CHAT_ENTRY, RETRIEVING_AT_CHAT = 0.0031, 0.02, 0.107
NULL_RESULT, REFORMULATION_AT_CHAT, SEARCH_REFORMULATION_AT_CHAT = 0.0151, 0.444, 0.3
STRICT, STANDARD, BROAD = 0.08, 0.24, 0.46  # GPR by definition, over all retrievals, those without result too

# Only what has a set rate happens, so that nothing else moves the figures: no scene that retrieves once more.
PUBLISHED = replace(
    DEMO,
    chat_entry=CHAT_ENTRY,
    retrieving_at_chat=RETRIEVING_AT_CHAT,
    retrieving_elsewhere=(RETRIEVING - CHAT_ENTRY * RETRIEVING_AT_CHAT) / (1 - CHAT_ENTRY),
    foreign_surface=0.0, no_surface=0.0, synthetic=0.0, no_list=0.0, no_request=0.0,
    null_result=NULL_RESULT,
    flagged=1.0,
    search_reformulation_at_chat=SEARCH_REFORMULATION_AT_CHAT,
    downstream_correction_at_chat=(
        (REFORMULATION_AT_CHAT - RETRIEVING_AT_CHAT * SEARCH_REFORMULATION_AT_CHAT) / (1 - RETRIEVING_AT_CHAT)
    ),
    reformulation_elsewhere=0.331,
    agent_places=0.0,
    generative=0.82,
    bare_action=0.0,
    intended=0.01,
    another_session=0.7,
    reacted=1.0,
    taken_away=STRICT / (1 - NULL_RESULT),
    worked_with=(STANDARD - STRICT) / (1 - NULL_RESULT),
    noticed=(BROAD - STANDARD) / (1 - NULL_RESULT),
)  # fmt: skip

# Every rule, grade and definition often: the follow-ups weigh about the same, the oddities are no exceptions.
COVERAGE = replace(
    DEMO,
    retrieving_at_chat=0.9, retrieving_elsewhere=0.9, foreign_surface=0.1, no_surface=0.1, synthetic=0.05,
    second_retrieval=0.5, shared_asset=0.7, null_result=0.08, no_list=0.13, hole=0.26, repeated=0.1,
    no_role=0.1, foreign_role=0.05, no_request=0.08, no_query=0.1, unspaced=0.5, flagged=0.5, agent_acts=0.8,
    shown_at_once=0.06, unbound_show=0.06, bare_action=0.15, judged=0.5, intended=0.3, again=0.87,
    another_session=0.4, silence=1.5, claimed=4.0, claimed_bare=1.0, requested=3.0, placed=2.0, composed=1.8,
    copied=1.0, derived=1.0, removed=1.4, placed_twice=0.9, retrieved_again=0.9, overridden=0.9, restored=0.9,
    delegated=2.0, second_look=1.0, substituted=3.0, reformulated=2.0, needed=1.6, similar=3.0, paged=1.2,
    refuted=3.8, dangling=2.2, baseless=2.2, long_chain=1.3, skewed=3.0, excluded=0.8, no_event_id=0.15,
    numeric_id=0.3, blank_field=0.2, unknown_field=0.1, no_session=0.15, resent=0.03, revised=0.02,
    conflicting=0.05, invalid=0.03, tombstone=0.01, reacted=0.12,
)  # fmt: skip

LIKES = {"demo": DEMO, "published": PUBLISHED, "coverage": COVERAGE}
