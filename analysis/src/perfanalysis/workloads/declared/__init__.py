"""Kinds of workloads that are declared: a folder with `workload.yml` and a small `parser.py`."""
