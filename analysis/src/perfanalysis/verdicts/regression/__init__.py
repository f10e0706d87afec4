"""Whether a run is worse than those before it: change points and outliers in a history, with effect sizes."""
