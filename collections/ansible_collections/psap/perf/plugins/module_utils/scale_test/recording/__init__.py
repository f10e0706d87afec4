"""Watches, and the files that they fill."""
