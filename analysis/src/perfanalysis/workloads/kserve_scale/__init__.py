"""Users that deploy models with KServe concurrently."""
