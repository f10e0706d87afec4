"""Compare two runs: differences, sizes, certainty, and whether they are better or worse."""
