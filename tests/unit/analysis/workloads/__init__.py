"""Tests of the room `workloads` of the analysis."""
