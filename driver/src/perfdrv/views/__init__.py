"""Output about a run: live, at its end, and later."""
