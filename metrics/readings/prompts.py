"""Layer 0: was a retrieval fired where one was needed, and only there?"""

from typing import Final

from metrics.reading import Layer, Moves, Reading

_LABELS_OF_INTENT: Final = ("judgement.kind", "judgement.request_id", "judgement.retrieval_intents")

PROMPTS: Final = Layer(
    "Layer 0: prompts",
    "Was a retrieval fired where one was needed, and only there?",
    (
        Reading(
            title="Invocation",
            figures=("lara_prompts", "lara_invocation_ratio"),
            population="All prompts of the window, by the prompt's own time and surface.",
            numerator="Prompts with at least one retrieval of the same request. It may come before the "
            "prompt.",
            denominator="All prompts.",
            moves=Moves(
                product="up with an entry point that invites searching; down with features that generate "
                "or edit",
                logging="down if a retrieval names no `request_id`: it is then a request of its own",
                model="up or down with the planner's eagerness to search",
            ),
            misuses=(
                "Quality: a low share is right where prompts need no search. Compare with missed retrievals.",
                "A target: more retrievals make it rise, needed or not.",
            ),
            fields=("prompt.request_id", "prompt.surface", "retrieval.request_id"),
            published="0.31 % of all prompts retrieve, and 10.7 % at the chat entry. "
            "One number over all surfaces hides the place where search happens.",
        ),
        Reading(
            title="Missed retrievals and multiple intents",
            figures=(
                "lara_intent_labelled_prompts",
                "lara_missed_retrieval_ratio",
                "lara_multi_intent_ratio",
            ),
            population="Prompts with a label of intent: how many retrievals they needed. A human's label "
            "beats a model's, then the newest, then the higher.",
            numerator="Missed: labelled 1 or more, no retrieval. Multiple: labelled 2 or more.",
            denominator="Missed: labelled 1 or more. Multiple: all labelled.",
            moves=Moves(
                product="multiple intents rise with longer, richer prompts",
                logging="missed rises if retrievals lose their `request_id`; both follow which prompts "
                "are labelled",
                model="missed falls with a planner that recognises needs; both move with another judge",
            ),
            misuses=(
                "A share of all prompts: only labelled ones are in it. If those were picked, so is the "
                "share.",
                "Comparing two periods that were labelled by different judges.",
            ),
            fields=("prompt.request_id", "retrieval.request_id", *_LABELS_OF_INTENT),
        ),
        Reading(
            title="Misrouted retrievals",
            figures=(
                "lara_routing_labelled_retrievals",
                "lara_misrouted_retrievals",
                "lara_misroute_ratio",
            ),
            population="Retrievals whose request has a label of intent, by role and surface of the "
            "retrieval.",
            numerator="Those whose prompt is labelled 0: it needed no retrieval.",
            denominator="All retrievals with a labelled prompt.",
            moves=Moves(
                product="up with a shortcut that always searches",
                logging="one prompt with many retrievals counts as often as it has retrievals",
                model="up with a planner that searches to be safe; moves with another judge",
            ),
            misuses=(
                "Blaming the search engine: the planner fired it.",
                "Dropping evidence: misrouted retrievals leave Layer 1 and stay in Layers 2 and 3.",
            ),
            fields=("retrieval.request_id", *_LABELS_OF_INTENT),
        ),
        Reading(
            title="Reformulation and downstream correction",
            figures=("lara_search_reformulation_ratio", "lara_downstream_correction_ratio"),
            population="Prompts that carry the flag `reformulation`, true or false. Without it, in "
            "neither figure.",
            numerator="Flagged true: with a retrieval it is a search reformulation, without one a downstream "
            "correction.",
            denominator="Flagged prompts with a retrieval; flagged prompts without one.",
            moves=Moves(
                product="corrections rise with generated results that need a second try",
                logging="a producer that sends the flag only when it is true makes both 100 %",
                model="corrections fall with a better generator, reformulations with better search",
            ),
            misuses=(
                "Adding the two up and blaming search: a correction is about what was made, not about "
                "what was found.",
            ),
            fields=("prompt.reformulation", "prompt.request_id", "retrieval.request_id"),
            published="Reformulation is 44.4 % in chat and 33.1 % in the gallery. Most of chat's are "
            "downstream corrections, so that the plain difference does not say that chat searches worse.",
        ),
        Reading(
            title="Routes",
            figures=("lara_prompts_by_route",),
            population="All prompts, by the route that the planner says it took.",
            numerator="Prompts of this route. Absent, and whatever is not configured, is `other`.",
            denominator="None: a count. Divide by `lara_prompts` of the same surface for a share.",
            moves=Moves(
                product="moves with the mix of features that are offered",
                logging="`other` rises with a new route that is not in `LARA_ROUTES`",
                model="moves with the planner",
            ),
            misuses=("Invocation: a route is what was planned; invocation counts what was fired.",),
            fields=("prompt.route",),
            published="82 % are generative edits. A planner that seldom retrieves is therefore no fault by "
            "itself.",
        ),
    ),
)
