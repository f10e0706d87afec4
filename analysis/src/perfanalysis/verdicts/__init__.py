"""Thresholds, comparison, regression."""
