"""A whole recording: its course, its end, its accounts."""
