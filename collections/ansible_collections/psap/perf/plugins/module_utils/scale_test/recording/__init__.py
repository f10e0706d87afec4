"""Watch objects, and write their transitions to files."""
