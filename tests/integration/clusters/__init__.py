"""Clusters that a run acquires and releases."""
