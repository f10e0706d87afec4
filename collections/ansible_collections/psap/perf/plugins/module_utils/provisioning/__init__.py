"""Clusters that a run creates, claims and destroys: what it knows of them, and the plan of which there will be."""
