"""Compare two runs: what differs, by how much, how surely, and whether it is better or worse."""
