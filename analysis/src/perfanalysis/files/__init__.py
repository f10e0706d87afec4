"""Files of runs: documents, discovery of a run directory, JSON lines, tables, the cache."""
