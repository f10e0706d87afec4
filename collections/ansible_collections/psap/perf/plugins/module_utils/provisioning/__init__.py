"""Create, claim, record and destroy the clusters of a run."""
