"""The commands that panels name as the next step."""

from typing import Final

REPORT: Final = "lara report"
DOCTOR: Final = "lara doctor"
RETRIEVAL: Final = "lara explain retrieval RETRIEVAL_ID"
ACTION: Final = "lara explain action ACTION_ID"
SAMPLE: Final = "lara sample --window 24h"
SAMPLE_SURFACES: Final = "lara sample --window 24h --by surface"
NULL_QUERIES: Final = "lara worst queries --by null --window 24h"
FAILED_QUERIES: Final = "lara worst queries --by failed --window 24h"
MASKED_QUERIES: Final = "lara worst queries --by masked --window 24h"
REPEATED_QUERIES: Final = "lara worst queries --by researched --window 24h"
IRRELEVANT_ASSETS: Final = "lara worst assets --by irrelevant --window 24h"
UNUSED_ASSETS: Final = "lara worst assets --by unused --window 24h"
