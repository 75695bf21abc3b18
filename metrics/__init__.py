"""From counters per minute to published figures."""
