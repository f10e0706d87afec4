"""Parse a run: its tables, and nothing else."""
