"""Tests of the room `workloads/scale_test` of the analysis."""
