"""Clusters that a run comes by, and gives back."""
