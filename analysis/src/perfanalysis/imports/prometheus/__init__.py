"""Answers of a Prometheus that someone saved, and dumps of samples, as a run directory."""
