"""Filling a cluster with numbered copies of objects, and counting them."""
