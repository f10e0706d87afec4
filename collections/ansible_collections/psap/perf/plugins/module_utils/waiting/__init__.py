"""Waiting for the states of objects, and what those states are, kind by kind."""
