"""Where entities and buckets live."""
