"""Detect whether a run is worse than earlier runs: change points and outliers in a history, with effect sizes."""
