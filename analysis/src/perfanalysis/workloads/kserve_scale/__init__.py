"""Users that deploy models with KServe at the same time."""
