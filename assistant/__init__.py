"""A small retrieval system that reports on itself: hybrid search, a tool, an emitter, and its evaluation.

It is a producer of events like any other: of the rest of lara it imports `attribution.events` only.
"""
