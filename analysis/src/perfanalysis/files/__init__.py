"""Files as they are read and kept: documents, discovery of a run directory, JSON lines, tables, the cache."""
