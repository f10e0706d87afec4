"""The kind of recordings of inference servers that were started on a host."""
