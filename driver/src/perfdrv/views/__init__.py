"""What is shown of a run: while it goes on, at its end, and later."""
