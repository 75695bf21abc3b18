"""The pure core: what happened, and which retrieval it belongs to. No I/O, no clock."""
