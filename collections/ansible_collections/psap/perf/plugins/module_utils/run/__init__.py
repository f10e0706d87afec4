"""The run directory: what is in it, and what failed."""
