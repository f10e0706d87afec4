"""Secrets: references in the settings, values in memory, and the search for values that leaked."""
