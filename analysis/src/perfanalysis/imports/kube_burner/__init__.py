"""kube-burner's local folder: as a run directory, as tables, and its quantiles recomputed from their samples."""
