"""A complete recording: its course, its end, its accounts."""
