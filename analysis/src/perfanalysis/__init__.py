"""Part of psap.perf."""
