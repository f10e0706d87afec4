"""Tests of the room `workloads/fine_tuning` of the analysis."""
