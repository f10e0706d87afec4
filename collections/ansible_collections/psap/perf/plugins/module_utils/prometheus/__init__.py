"""Prometheus: where it is, what it is asked, and how its database is emptied and kept."""
