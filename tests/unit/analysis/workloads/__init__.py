"""Tests of kinds of workloads."""
