"""Utilities for all other packages: errors, documents, times, names, processes."""
