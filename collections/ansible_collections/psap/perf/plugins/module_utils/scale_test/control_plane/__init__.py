"""Metrics of the control plane during a test, scraped at an interval.

A dedicated process reads the pages, which are megabytes, so that the process that timestamps arrivals is not delayed.
It writes ``control_plane.jsonl`` and ``control_plane.json``.
"""
